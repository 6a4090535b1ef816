//! `any` and TypeCode.

use super::{Peer, Raises};
use crate::rich::anys::{fault, make, type_fault};
use crate::rich::rich_idl::rich::{Anys, Kind, Mixed, PeerRef};
use zorb::{Any, TypeCode};

impl Peer {
    fn itself(&self) -> &PeerRef {
        self.itself.get().expect("set before the first call")
    }
}

impl Anys for Peer {
    async fn make_any(&self, which: Kind, n: i32) -> Raises<Any> {
        Ok(make(which, n, self.itself()))
    }

    async fn check_any(&self, which: Kind, n: i32, it: &Any) -> Raises<String> {
        Ok(fault(which, n, it, self.itself()))
    }

    async fn pass_any(&self, a: &Any, b: &Any) -> Raises<(Any, Any, Any)> {
        Ok((a.clone(), a.clone(), b.clone()))
    }

    async fn turn_anys(&self, all: &[Any]) -> Raises<Vec<Any>> {
        Ok(all.iter().rev().cloned().collect())
    }

    async fn type_of(&self, which: Kind) -> Raises<TypeCode> {
        Ok(make(which, 1, self.itself()).type_code().clone())
    }

    async fn check_type(&self, which: Kind, it: &TypeCode) -> Raises<String> {
        Ok(type_fault(which, it, self.itself()))
    }

    async fn pass_type(
        &self,
        a: &TypeCode,
        b: &TypeCode,
    ) -> Raises<(TypeCode, TypeCode, TypeCode)> {
        Ok((a.clone(), a.clone(), b.clone()))
    }

    async fn pass_mixed(&self, a: &Mixed, b: &Mixed) -> Raises<(Mixed, Mixed, Mixed)> {
        Ok((a.clone(), a.clone(), b.clone()))
    }
}
