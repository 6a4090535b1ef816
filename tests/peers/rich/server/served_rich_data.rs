//! Unions, recursive and anonymous types, numbers.

use super::{Peer, Raises};
use crate::digest::{Value, digest};
use crate::rich::rich_idl::rich::{
    self, Bill, ByBig, ByBoolean, ByChar, ByLong, ByLongLong, ByOwn, ByShort, BySuit, ByTruth,
    ByULong, ByUShort, Chain, Data, Expr, Huge, Mismatch, Plainly, Price, Small, Tree, Unions,
    data,
};
use zorb::Context;

pub(super) fn verify(operation: &str, expected: u64, found: u64) -> Result<(), Mismatch> {
    let operation = operation.to_owned();
    if found == expected {
        Ok(())
    } else {
        Err(Mismatch {
            operation,
            expected,
            found,
        })
    }
}

/// `T echo_xxx(in T a, inout T b, in unsigned long long check, out T c)`.
macro_rules! echo {
    ($($name:ident($in:ty) -> $out:ty, $error:ty;)+) => {$(
        async fn $name(&self, a: $in, b: $in, check: u64) -> Result<($out, $out, $out), $error> {
            verify(stringify!($name), check, digest!(a, b))?;
            Ok((a.twisted(), a.to_owned(), b.to_owned()))
        }
    )+};
}

impl Data for Peer {
    echo! {
        echo_by_long(&ByLong) -> ByLong, data::EchoByLongError;
        echo_by_short(&ByShort) -> ByShort, data::EchoByShortError;
        echo_by_ushort(&ByUShort) -> ByUShort, data::EchoByUshortError;
        echo_by_ulong(&ByULong) -> ByULong, data::EchoByUlongError;
        echo_by_big(&ByBig) -> ByBig, data::EchoByBigError;
        echo_by_longlong(&ByLongLong) -> ByLongLong, data::EchoByLonglongError;
        echo_by_char(&ByChar) -> ByChar, data::EchoByCharError;
        echo_by_boolean(&ByBoolean) -> ByBoolean, data::EchoByBooleanError;
        echo_by_truth(&ByTruth) -> ByTruth, data::EchoByTruthError;
        echo_by_suit(&BySuit) -> BySuit, data::EchoBySuitError;
        echo_by_own(&ByOwn) -> ByOwn, data::EchoByOwnError;
        echo_unions(&Unions) -> Unions, data::EchoUnionsError;
        echo_tree(&Tree) -> Tree, data::EchoTreeError;
        echo_expr(&Expr) -> Expr, data::EchoExprError;
        echo_chain(&Chain) -> Chain, data::EchoChainError;
        echo_plainly(&Plainly) -> Plainly, data::EchoPlainlyError;
        echo_price(Price) -> Price, data::EchoPriceError;
        echo_huge(Huge) -> Huge, data::EchoHugeError;
        echo_bill(&Bill) -> Bill, data::EchoBillError;
    }

    async fn in_context(&self, greeting: &str, context: &Context) -> Raises<String> {
        let mut all: Vec<String> = context
            .iter()
            .map(|(name, value)| format!(",{name}={value}"))
            .collect();
        all.sort();
        Ok(format!("{greeting}{}", all.concat()))
    }

    async fn the_vat(&self) -> Raises<Small> {
        Ok(rich::VAT.truncate().expect("four digits hold it"))
    }
}
