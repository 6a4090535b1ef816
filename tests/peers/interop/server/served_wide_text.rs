//! Operations with wide text.

use super::served_data::{echo, verify};
use super::{Peer, Raises};
use crate::interop::idl::interop::types::WideBundle;
use crate::interop::idl::interop::{WideTexts, wide_texts};
use crate::interop::rules::{Value, digest, digest_wide};
use zorb::WChar;

/// The same as `echo!`, for types of Rust that stand for a string elsewhere.
macro_rules! echo_wide {
    ($($name:ident($in:ty) -> $out:ty, $error:ty;)+) => {$(
        async fn $name(&self, a: $in, b: $in, check: u64) -> Result<($out, $out, $out), $error> {
            verify(stringify!($name), check, digest_wide(a, b))?;
            Ok((a.twisted(), a.to_owned(), b.to_owned()))
        }
    )+};
}

impl WideTexts for Peer {
    echo! {
        echo_wchar(WChar) -> WChar, wide_texts::EchoWcharError;
        echo_wchars(&[WChar]) -> Vec<WChar>, wide_texts::EchoWcharsError;
        echo_wide(&WideBundle) -> WideBundle, wide_texts::EchoWideError;
    }
    echo_wide! {
        echo_wstring(&str) -> String, wide_texts::EchoWstringError;
        echo_wstrings(&[String]) -> Vec<String>, wide_texts::EchoWstringsError;
    }

    async fn twist_wtag(&self, a: &str) -> Raises<String> {
        Ok(a.twisted())
    }

    async fn widen(&self, a: &str) -> Raises<String> {
        Ok(a.to_owned())
    }

    async fn narrow(&self, a: &str) -> Raises<String> {
        Ok(a.to_owned())
    }

    async fn make_wstring(&self, n: u32) -> Raises<String> {
        Ok("\u{416}".repeat(n as usize))
    }
}
