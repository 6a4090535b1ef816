//! Cells about wide text.

use super::data_cells::echo;
use super::{World, raised};
use crate::interop::idl::interop::types::TAG_BOUND;
use crate::interop::rules::{Value, digest, digest_wide};
use crate::interop::samples::{Dice, Sample, TEXTS, wide_bundle, wide_text as text};
use std::sync::Arc;
use zorb::Interface;
use zorb::{CompletionStatus, SystemExceptionKind as Kind, WChar};
use zorb_giop::Version;
use zorb_giop::ior::IiopProfile;

/// Calls an echo of wstrings and checks what comes back.
macro_rules! echo_wide {
    ($world:ident.$operation:ident($a:expr, $b:expr)) => {
        match ($a, $b) {
            (a, b) => {
                let check = digest_wide(a, b);
                let echoed = $world.peer.$operation(a, b, check).await;
                let (result, inout, out) = echoed.expect(stringify!($operation));
                assert_eq!(result, a.twisted(), "{}: result", stringify!($operation));
                assert_eq!(inout, *a, "{}: inout", stringify!($operation));
                assert_eq!(out, *b, "{}: out", stringify!($operation));
            }
        }
    };
}

/// The character U+FEFF is a byte order mark where a text begins and a character everywhere else.
const MARKED: [&str; 6] = [
    "a\u{feff}b",
    "ends with one\u{feff}",
    "\u{feff}",
    "\u{feff}begins with one",
    "\u{feff}\u{feff}with two",
    "\u{fffe}",
];

pub(super) async fn wide_chars(w: Arc<World>) {
    let units = "aZ0 \u{1}\u{7f}\u{80}éÿĀЖ€日\u{301}\u{d7ff}\u{e000}\u{fffd}\u{ffff}";
    for unit in units.encode_utf16() {
        // Neither is ever a mark.
        echo!(w.echo_wchar(WChar(unit), WChar(unit ^ 4)));
    }
    let mut d = Dice(21);
    for n in [0, 1, 2, 3, 8, 33] {
        let (a, b): (Vec<WChar>, Vec<WChar>) =
            (d.many(n, Sample::sample), d.many(n / 2, Sample::sample));
        echo!(w.echo_wchars(&a, &b));
    }
}

/// Halves of pairs, one character at a time, as Java sends them.
pub(super) async fn wide_halves(w: Arc<World>) {
    for unit in "🦀\u{10000}\u{10ffff}".encode_utf16() {
        echo!(w.echo_wchar(WChar(unit), WChar(0x416)));
    }
    let pairs: Vec<WChar> = "🦀x𝄞".encode_utf16().map(WChar).collect();
    echo!(w.echo_wchars(&pairs[..], &pairs[..1]));
}

pub(super) async fn wide_strings(w: Arc<World>) {
    for (n, a) in TEXTS.into_iter().enumerate() {
        echo_wide!(w.echo_wstring(a, TEXTS[(n * 5 + 2) % TEXTS.len()]));
    }
    for n in 1..12 {
        echo_wide!(w.echo_wstring(&*"Жp".repeat(n), &*"Q".repeat(12 - n)));
    }
}

pub(super) async fn wide_marks(w: Arc<World>) {
    for (n, a) in MARKED.into_iter().enumerate() {
        echo_wide!(w.echo_wstring(a, MARKED[(n + 1) % MARKED.len()]));
    }
    for unit in [0xfeff, 0xfffe] {
        echo!(w.echo_wchar(WChar(unit), WChar(0x20)));
    }
}

pub(super) async fn wide_sequences(w: Arc<World>) {
    let mut d = Dice(22);
    for n in [0, 1, 2, 3, 8, 33] {
        let (a, b) = (d.many(n, text), d.many(n / 2, text));
        echo_wide!(w.echo_wstrings(&*a, &*b));
    }
}

pub(super) async fn wide_structs(w: Arc<World>) {
    let mut d = Dice(23);
    for n in 0..9 {
        let (a, b) = (wide_bundle(&mut d, n), wide_bundle(&mut d, n * 5 % 7));
        echo!(w.echo_wide(&a, &b));
    }
}

/// The bound counts UTF-16 units.
pub(super) async fn wide_bounded(w: Arc<World>) {
    assert_eq!(TAG_BOUND, 12);
    for tag in ["", "a", "Ж", "exactly12chr", "ЖЖЖЖЖЖЖЖЖЖЖЖ", "🦀🦀🦀🦀🦀🦀"]
    {
        assert_eq!(w.peer.twist_wtag(tag).await.unwrap(), tag.twisted());
    }
    for tag in ["exactly13char", "🦀🦀🦀🦀🦀🦀!"] {
        let outcome = w.peer.twist_wtag(tag).await;
        raised(outcome, Kind::BadParam, CompletionStatus::No);
    }
    w.peer.nothing().await.unwrap();
}

pub(super) async fn widen_narrow(w: Arc<World>) {
    for text in ["", "plain", "naïve café ÄÖÜß ÿ"] {
        assert_eq!(w.peer.widen(text).await.unwrap(), text);
        assert_eq!(w.peer.narrow(text).await.unwrap(), text);
    }
}

/// The same, for strings that travel as UTF-8 to a server that keeps them so.
pub(super) async fn widen_narrow_unicode(w: Arc<World>) {
    for text in TEXTS {
        assert_eq!(w.peer.widen(text).await.unwrap(), text);
        assert_eq!(w.peer.narrow(text).await.unwrap(), text);
    }
}

pub(super) async fn large_wide_strings(w: Arc<World>) {
    let a: String = "Жa🦀".chars().cycle().take(w.enough(60_000)).collect();
    let b: String = ('α'..='ω').cycle().take(w.enough(45_677)).collect();
    echo_wide!(w.echo_wstring(&*a, &*b));
    let most = u32::try_from(w.enough(150_000)).unwrap();
    for n in [0, 1, 4094, 4095, 4096, most] {
        let found = w.peer.make_wstring(n).await.unwrap();
        assert_eq!(found, "Ж".repeat(n as usize), "make_wstring({n})");
    }
}

/// Where there is no wide text (GIOP 1.0, or a reference that names no code sets), nothing of it
/// leaves or arrives.
pub(super) async fn wide_refused(w: Arc<World>) {
    let no = CompletionStatus::No;
    let profile = &w.peer.as_object().ior().profiles[0];
    let kind = match IiopProfile::from_tagged(profile).unwrap().version {
        Version::V1_0 => Kind::Marshal,
        // The version has it, the reference does not.
        _ => Kind::InvObjref,
    };
    let (a, b) = (WChar(0x61), WChar(0x62));
    raised(w.peer.echo_wchar(a, b, 0).await, kind, no);
    raised(w.peer.echo_wstring("a", "", 0).await, kind, no);
    raised(w.peer.narrow("").await, kind, no);
    // The server finds out only when it answers; omniORB does so by BAD_PARAM in 1.0, and in 1.1,
    // where a part of the reply may have left already, by closing the connection.
    let lost = w.peer.make_wstring(3).await.unwrap_err();
    assert!(
        matches!(
            lost.kind,
            Kind::BadParam | Kind::Marshal | Kind::InvObjref | Kind::CommFailure
        ),
        "{lost}"
    );
    w.peer.nothing().await.unwrap();
}
