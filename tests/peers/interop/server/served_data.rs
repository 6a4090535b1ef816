//! Operations that carry data in every direction.

use super::{Peer, Raises};
use crate::interop::idl::interop::types::{self, Bundle, Inner, Odd, Outer, Suit};
use crate::interop::idl::interop::{
    Arrays, Basics, Mismatch, Sequences, Texts, Values, arrays, basics, sequences, texts, values,
};
use crate::interop::idl::shapes::Point;
use crate::interop::rules::{Value, digest};
use zorb::{Bytes, Char, OctetsRef};

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
pub(super) use echo;

impl Basics for Peer {
    echo! {
        echo_short(i16) -> i16, basics::EchoShortError;
        echo_ushort(u16) -> u16, basics::EchoUshortError;
        echo_long(i32) -> i32, basics::EchoLongError;
        echo_ulong(u32) -> u32, basics::EchoUlongError;
        echo_longlong(i64) -> i64, basics::EchoLonglongError;
        echo_ulonglong(u64) -> u64, basics::EchoUlonglongError;
        echo_float(f32) -> f32, basics::EchoFloatError;
        echo_double(f64) -> f64, basics::EchoDoubleError;
        echo_boolean(bool) -> bool, basics::EchoBooleanError;
        echo_octet(u8) -> u8, basics::EchoOctetError;
        echo_char(Char) -> Char, basics::EchoCharError;
    }

    async fn mixed(
        &self,
        a: u8,
        b: f64,
        c: Char,
        d: i64,
        e: bool,
        f: i16,
        g: u8,
        h: f64,
        check: u64,
    ) -> Result<(u16, u8, f64, u8, i64, bool, f32, Char), basics::MixedError> {
        verify("mixed", check, digest!(a, b, c, d, e, f, g, h))?;
        // The rule says: as a float.
        let l = h as f32;
        Ok((
            (!f).cast_unsigned(),
            a ^ 0xff,
            -b,
            g,
            !d,
            !e,
            l,
            c.twisted(),
        ))
    }

    async fn nothing(&self) -> Raises<()> {
        Ok(())
    }

    async fn only_out(&self) -> Raises<(u8, f64, String)> {
        Ok((1, 2.0, "three".to_owned()))
    }

    async fn constants(&self) -> Raises<u64> {
        Ok(digest_of_constants())
    }
}

/// Every constant of `Interop::Types`, as our compiled IDL has them.
pub(crate) fn digest_of_constants() -> u64 {
    digest!(
        types::SMALL,
        types::LIST_BOUND,
        types::FAR,
        types::FARTHER,
        types::MASK,
        types::LETTER,
        types::NEWLINE,
        types::YES,
        types::QUARTER,
        types::THIRD,
        types::GREETING,
        types::TAG_BOUND,
        types::TRUMP,
    )
}

impl Texts for Peer {
    echo! {
        echo_string(&str) -> String, texts::EchoStringError;
        echo_tag(&str) -> String, texts::EchoTagError;
    }

    async fn join(&self, a: &str, b: &str) -> Raises<String> {
        Ok(format!("{a}{b}"))
    }

    async fn make_string(&self, n: u32) -> Raises<String> {
        Ok("x".repeat(n as usize))
    }
}

impl Values for Peer {
    echo! {
        echo_suit(Suit) -> Suit, values::EchoSuitError;
        echo_point(&Point) -> Point, values::EchoPointError;
        echo_odd(&Odd) -> Odd, values::EchoOddError;
        echo_inner(&Inner) -> Inner, values::EchoInnerError;
        echo_outer(&Outer) -> Outer, values::EchoOuterError;
        echo_bundle(&Bundle) -> Bundle, values::EchoBundleError;
    }
}

impl Sequences for Peer {
    async fn echo_octets(
        &self,
        a: OctetsRef<'_>,
        b: OctetsRef<'_>,
        check: u64,
    ) -> Result<(Bytes, Bytes, Bytes), sequences::EchoOctetsError> {
        verify("echo_octets", check, digest!(a, b))?;
        Ok((a.twisted().into(), a.keep(), b.keep()))
    }

    echo! {
        echo_booleans(&[bool]) -> Vec<bool>, sequences::EchoBooleansError;
        echo_longs(&[i32]) -> Vec<i32>, sequences::EchoLongsError;
        echo_doubles(&[f64]) -> Vec<f64>, sequences::EchoDoublesError;
        echo_strings(&[String]) -> Vec<String>, sequences::EchoStringsError;
        echo_tags(&[String]) -> Vec<String>, sequences::EchoTagsError;
        echo_suits(&[Suit]) -> Vec<Suit>, sequences::EchoSuitsError;
        echo_odds(&[Odd]) -> Vec<Odd>, sequences::EchoOddsError;
        echo_inners(&[Inner]) -> Vec<Inner>, sequences::EchoInnersError;
        echo_outers(&[Outer]) -> Vec<Outer>, sequences::EchoOutersError;
        echo_pairs(&[[Inner; 2]]) -> Vec<[Inner; 2]>, sequences::EchoPairsError;
        echo_path(&[Point]) -> Vec<Point>, sequences::EchoPathError;
        echo_corners(&[Point]) -> Vec<Point>, sequences::EchoCornersError;
        echo_matrix(&[Vec<i32>]) -> Vec<Vec<i32>>, sequences::EchoMatrixError;
        echo_deep(&[Vec<Vec<i16>>]) -> Vec<Vec<Vec<i16>>>, sequences::EchoDeepError;
        echo_list(&[i32]) -> Vec<i32>, sequences::EchoListError;
        echo_two_tags(&[String]) -> Vec<String>, sequences::EchoTwoTagsError;
        echo_lists(&[Vec<i32>]) -> Vec<Vec<i32>>, sequences::EchoListsError;
    }

    async fn make_octets(&self, n: u32) -> Raises<Bytes> {
        Ok((0..n).map(octet_at).collect())
    }

    async fn take_octets(&self, a: OctetsRef<'_>) -> Raises<u64> {
        Ok(digest!(a))
    }
}

/// The octet of `make_octets` at an index.
pub(crate) fn octet_at(index: u32) -> u8 {
    let [least, ..] = index
        .wrapping_mul(7)
        .wrapping_add(index / 256)
        .to_le_bytes();
    least
}

impl Arrays for Peer {
    echo! {
        echo_cube(&types::Cube) -> types::Cube, arrays::EchoCubeError;
        echo_names(&types::Names) -> types::Names, arrays::EchoNamesError;
        echo_oddpair(&types::OddPair) -> types::OddPair, arrays::EchoOddpairError;
        echo_pair(&types::InnerPair) -> types::InnerPair, arrays::EchoPairError;
        echo_paths(&types::Paths) -> types::Paths, arrays::EchoPathsError;
        echo_rows(&types::Rows) -> types::Rows, arrays::EchoRowsError;
    }
}
