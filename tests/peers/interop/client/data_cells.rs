//! Cells that send data in every direction.

use super::{World, raised};
use crate::interop::idl::interop::PeerRef;
use crate::interop::idl::interop::basics::EchoLongError;
use crate::interop::idl::interop::types::{self, Suit};
use crate::interop::idl::shapes;
use crate::interop::rules::{Value, digest};
use crate::interop::samples::{Dice, Sample, bundle};
use crate::interop::server::{digest_of_constants, octet_at};
use crate::peers::profile;
use std::sync::Arc;
use zorb::{
    Char, CompletionStatus, Interface, Orb, SystemException, SystemExceptionKind as Kind, Version,
};

/// Calls an echo and checks what comes back.
macro_rules! echo {
    ($world:ident.$operation:ident($a:expr, $b:expr)) => {
        match ($a, $b) {
            (a, b) => {
                let (result, inout, out) = $world
                    .peer
                    .$operation(a, b, digest!(a, b))
                    .await
                    .expect(stringify!($operation));
                assert_eq!(
                    digest!(result),
                    digest!(a.twisted()),
                    "{}: result",
                    stringify!($operation)
                );
                assert_eq!(
                    digest!(inout),
                    digest!(a),
                    "{}: inout",
                    stringify!($operation)
                );
                assert_eq!(digest!(out), digest!(b), "{}: out", stringify!($operation));
            }
        }
    };
}
pub(super) use echo;

/// Calls an echo of sequences, from empty ones to long ones.
macro_rules! echo_sequences {
    ($world:ident.$operation:ident, $one:expr) => {{
        let mut d = Dice(7);
        for (n, m) in [(0, 0), (1, 0), (2, 1), (3, 2), (8, 7), (33, 32)] {
            let (a, b) = (d.many(n, $one), d.many(m, $one));
            echo!($world.$operation(&a, &b));
        }
    }};
}

/// The same up to the bound of the sequence.
macro_rules! echo_up_to {
    ($bound:expr, $world:ident.$operation:ident, $one:expr) => {{
        let mut d = Dice(5);
        for n in 0..=$bound {
            let (a, b) = (d.many(n, $one), d.many($bound - n, $one));
            echo!($world.$operation(&a, &b));
        }
    }};
}

pub(super) async fn basic(w: Arc<World>) {
    for v in [0, 1, -2, 0x1234, i16::MAX, i16::MIN] {
        echo!(w.echo_short(v, v ^ 0x55));
    }
    for v in [0, 1, 0x1234, 0x8000, u16::MAX] {
        echo!(w.echo_ushort(v, v ^ 0x55));
    }
    for v in [0, -1, 0x1234_5678, i32::MAX, i32::MIN] {
        echo!(w.echo_long(v, v ^ 0x55));
    }
    for v in [0, 0x1234_5678, 0x8000_0000, u32::MAX] {
        echo!(w.echo_ulong(v, v ^ 0x55));
    }
    for v in [0, 1, 0x1234_5678_9abc_def0, i64::MAX, i64::MIN, -1] {
        echo!(w.echo_longlong(v, v ^ 0x5555));
    }
    for v in [0, 1, 0x1234_5678_9abc_def0, 1 << 63, u64::MAX] {
        echo!(w.echo_ulonglong(v, v ^ 0x5555));
    }
    for v in [0.0, -0.0, 1.23, f32::from_bits(1), f32::MAX, f32::INFINITY] {
        echo!(w.echo_float(v, 0.1));
    }
    for v in [
        0.0,
        -0.0,
        1.23,
        f64::from_bits(1),
        f64::MAX,
        f64::NEG_INFINITY,
    ] {
        echo!(w.echo_double(v, 0.1));
    }
    for (a, b) in [(true, false), (false, true), (true, true)] {
        echo!(w.echo_boolean(a, b));
    }
    for v in [0, 1, 0x7f, 0x80, 0xff] {
        echo!(w.echo_octet(v, v ^ 5));
    }
    for v in *b"aZ0 \n\x01\x7f" {
        echo!(w.echo_char(Char(v), Char(b'q')));
    }
    w.peer.nothing().await.unwrap();
    assert_eq!(
        w.peer.only_out().await.unwrap(),
        (1, 2.0, "three".to_owned())
    );
}

/// A NaN has a sign too.
pub(super) async fn nans(w: Arc<World>) {
    echo!(w.echo_float(f32::NAN, -f32::NAN));
    echo!(w.echo_double(f64::NAN, -f64::NAN));
}

pub(super) async fn mixed(w: Arc<World>) {
    for round in 0..8 {
        let mut dice = Dice(11 + round);
        let r = &mut dice;
        let (a, g) = (u8::sample(r), u8::sample(r));
        let (b, h) = (f64::sample(r), f64::sample(r));
        let (c, d, f) = (Char::sample(r), i64::sample(r), i16::sample(r));
        let e = round % 2 == 1;
        let check = digest!(a, b, c, d, e, f, g, h);
        let found = w.peer.mixed(a, b, c, d, e, f, g, h, check).await.unwrap();
        // The rule says: as a float.
        let l = h as f32;
        let expected = (
            f.twisted().cast_unsigned(),
            !a,
            -b,
            g,
            !d,
            !e,
            l,
            c.twisted(),
        );
        assert_eq!(found, expected);
    }
}

/// The server finds a wrong check argument, so the checks of all other cells mean something.
pub(super) async fn mismatch(w: Arc<World>) {
    match w.peer.echo_long(1, 2, 42).await {
        Err(EchoLongError::Mismatch(e)) => {
            assert_eq!((e.operation.as_str(), e.expected), ("echo_long", 42));
            assert_eq!(e.found, digest!(1i32, 2i32));
        }
        other => panic!("expected Mismatch, found {other:?}"),
    }
}

pub(super) async fn constants(w: Arc<World>) {
    assert_eq!(w.peer.constants().await.unwrap(), digest_of_constants());
}

pub(super) async fn strings(w: Arc<World>) {
    for (a, b) in [
        ("", ""),
        ("x", ""),
        ("", "y"),
        ("The quick brown fox", "0123456789 ~!@#$%^&*()[]{}<>\"'\\/|"),
    ] {
        echo!(w.echo_string(a, b));
    }
    for n in 1..12 {
        echo!(w.echo_string(&"p".repeat(n), &"Q".repeat(12 - n)));
    }
    assert_eq!(w.peer.join("ab", "cd").await.unwrap(), "abcd");
    assert_eq!(w.peer.join("", "").await.unwrap(), "");
    for tag in ["", "a", "exactly12chr"] {
        echo!(w.echo_tag(tag, "Tag"));
    }
}

pub(super) async fn latin1(w: Arc<World>) {
    echo!(w.echo_string("naïve café", "ÄÖÜß"));
    let all: String = ('\u{a0}'..='\u{ff}').collect();
    echo!(w.echo_string(&all, "ÿ"));
    assert_eq!(w.peer.join("é", "è").await.unwrap(), "éè");
}

pub(super) async fn latin1_char(w: Arc<World>) {
    if w.utf8 {
        // One octet cannot carry it.
        let outcome = w.peer.echo_char(Char(0xe9), Char(b'a'), 0).await;
        raised(outcome, Kind::DataConversion, CompletionStatus::No);
    } else {
        for v in 0x80..=0xff {
            echo!(w.echo_char(Char(v), Char(0xe9)));
        }
    }
    echo!(w.echo_char(Char(b'b'), Char(b'a')));
}

pub(super) async fn unicode(w: Arc<World>) {
    echo!(w.echo_string("日本語", "naïve € 🦀 end"));
    echo!(w.echo_string("\u{10ffff}", "Ж"));
}

/// A `corbaloc` states no code sets. For a server that takes and sends UTF-8 all the same our ORB has an option;
/// without the option it makes another text of it, and no error.
pub(super) async fn unicode_by_corbaloc(w: Arc<World>) {
    let way = w.way.as_ref().expect("a way");
    let url = way.corbaloc(w.peer.as_object().ior());
    let by_url = async |orb: &Orb| -> PeerRef {
        let object = orb.string_to_object(&url).await.unwrap();
        object.unchecked_narrow()
    };
    let text = "é, Ж and 日本語";
    let configured = by_url(&w.orb).await;
    configured.set_title(text).await.unwrap();
    assert_eq!(configured.title().await.as_deref(), Ok(text));
    assert_eq!(w.peer.title().await.as_deref(), Ok(text));
    assert_eq!(configured.join("Ж", "é").await.as_deref(), Ok("Жé"));

    let other = Orb::builder().build().await.expect("an ORB");
    let untold = by_url(&other).await;
    let octets = text.bytes().map(char::from).collect();
    assert_eq!(untold.title().await, Ok(octets));
    untold.set_title("é").await.unwrap();
    assert_eq!(configured.title().await.as_deref(), Ok("\u{fffd}"));
    other.shutdown(true).await.expect("outside any upcall");
}

pub(super) async fn cyrillic(w: Arc<World>) {
    let all: String = ('Ё'..='џ').filter(|c| !"ЍѐѝѠ".contains(*c)).collect();
    echo!(w.echo_string("Жар-птица № 1", "Ё"));
    echo!(w.echo_string(&all, ""));
}

/// Characters that the server's code set, or the one that travels, does not have.
const UNFIT: [&str; 4] = ["日本語", "naïve ∞", "\u{100}", "🦀"];

/// Text that does not fit raises an exception, at the side where it does not, and never becomes another text.
pub(super) async fn unfit(w: Arc<World>) {
    // Text that cannot be sent is detected here; text that the server cannot keep, there.
    let completed = (!w.utf8).then_some(CompletionStatus::No);
    for text in UNFIT {
        let check = digest!(text, "");
        raised(
            w.peer.echo_string(text, "", check).await,
            Kind::DataConversion,
            completed,
        );
        raised(
            w.peer.echo_string("", text, digest!("", text)).await,
            Kind::DataConversion,
            completed,
        );
        raised(
            w.peer.join("fits", text).await,
            Kind::DataConversion,
            completed,
        );
        echo!(w.echo_string("still", "there"));
    }
}

/// The same with a text that is on its way back.
pub(super) async fn unfit_reply(w: Arc<World>) {
    for text in UNFIT {
        raised(w.peer.narrow(text).await, Kind::DataConversion, None);
        echo!(w.echo_string("still", "there"));
    }
}

pub(super) async fn enums(w: Arc<World>) {
    let all = [Suit::Clubs, Suit::Diamonds, Suit::Hearts, Suit::Spades];
    for a in all {
        echo!(w.echo_suit(a, a.twisted().twisted()));
    }
}

pub(super) async fn structs(w: Arc<World>) {
    let mut d = Dice(3);
    for _ in 0..8 {
        echo!(w.echo_point(&Sample::sample(&mut d), &Sample::sample(&mut d)));
        echo!(w.echo_odd(&Sample::sample(&mut d), &Sample::sample(&mut d)));
        echo!(w.echo_inner(&Sample::sample(&mut d), &Sample::sample(&mut d)));
        echo!(w.echo_outer(&Sample::sample(&mut d), &Sample::sample(&mut d)));
    }
}

pub(super) async fn bundles(w: Arc<World>) {
    let mut d = Dice(4);
    for n in 0..9 {
        let (a, b) = (bundle(&mut d, n), bundle(&mut d, n * 5 % 7));
        echo!(w.echo_bundle(&a, &b));
    }
}

pub(super) async fn sequences(w: Arc<World>) {
    let mut d = Dice(7);
    for n in [1, 2, 3, 8, 33] {
        let (a, b) = (d.octets(n), d.octets(n - 1));
        echo!(w.echo_octets(&a, &b));
    }
    echo_sequences!(w.echo_booleans, Sample::sample);
    echo_sequences!(w.echo_longs, Sample::sample);
    echo_sequences!(w.echo_doubles, Sample::sample);
    echo_sequences!(w.echo_strings, Sample::sample);
    echo_sequences!(w.echo_tags, |d: &mut Dice| d.word(12));
    echo_sequences!(w.echo_suits, Sample::sample);
}

pub(super) async fn struct_sequences(w: Arc<World>) {
    echo_sequences!(w.echo_odds, Sample::sample);
    echo_sequences!(w.echo_inners, Sample::sample);
    echo_sequences!(w.echo_outers, Sample::sample);
    echo_sequences!(w.echo_pairs, Sample::sample);
    echo_sequences!(w.echo_path, Sample::sample);
}

/// Up to `most` of them.
fn some<T: Sample>(d: &mut Dice, most: usize) -> Vec<T> {
    let n = d.word(most).len();
    d.many(n, T::sample)
}

pub(super) async fn nested_sequences(w: Arc<World>) {
    echo_sequences!(w.echo_matrix, |d: &mut Dice| some(d, 4));
    echo_sequences!(w.echo_deep, |d: &mut Dice| {
        let n = d.word(2).len();
        d.many(n, |d| some(d, 3))
    });
}

pub(super) async fn bounded(w: Arc<World>) {
    echo_up_to!(types::LIST_BOUND as usize, w.echo_list, Sample::sample);
    echo_up_to!(2, w.echo_two_tags, |d: &mut Dice| d.word(3));
    echo_up_to!(2, w.echo_lists, |d: &mut Dice| some(d, 5));
    echo_up_to!(shapes::MAX_CORNERS as usize, w.echo_corners, Sample::sample);
}

/// Arguments that are too long are never sent.
pub(super) async fn beyond_bounds(w: Arc<World>) {
    let refused = Kind::BadParam;
    let no = CompletionStatus::No;
    raised(w.peer.echo_tag("exactly13char", "", 0).await, refused, no);
    raised(w.peer.echo_list(&[0; 6], &[], 0).await, refused, no);
    raised(
        w.peer.echo_two_tags(&["four".to_owned()], &[], 0).await,
        refused,
        no,
    );
    raised(
        w.peer.echo_lists(&[vec![], vec![0; 6]], &[], 0).await,
        refused,
        no,
    );
    raised(w.peer.join("nul\0nul", "").await, refused, no);
    w.peer.nothing().await.unwrap();
}

pub(super) async fn arrays(w: Arc<World>) {
    let mut dice = Dice(6);
    let d = &mut dice;
    echo!(w.echo_cube(&Sample::sample(d), &Sample::sample(d)));
    echo!(w.echo_names(&Sample::sample(d), &Sample::sample(d)));
    echo!(w.echo_oddpair(&Sample::sample(d), &Sample::sample(d)));
    echo!(w.echo_pair(&Sample::sample(d), &Sample::sample(d)));
    let paths = [[3, 2], [0, 1]].map(|counts| counts.map(|n| d.many(n, Sample::sample)));
    echo!(w.echo_paths(&paths[0], &paths[1]));
    echo!(w.echo_rows(&Sample::sample(d), &Sample::sample(d)));
}

pub(super) async fn large_octets(w: Arc<World>) {
    let mut d = Dice(8);
    let (a, b) = (d.octets(w.enough(500_001)), d.octets(w.enough(300_000)));
    echo!(w.echo_octets(&a, &b));
    let most = u32::try_from(w.enough(1_000_003)).unwrap();
    for n in [0, 1, 255, 256, 8191, 8192, 65536, most] {
        let found = w.peer.make_octets(n).await.unwrap();
        assert!(
            found.iter().copied().eq((0..n).map(octet_at)),
            "make_octets({n})"
        );
    }
}

pub(super) async fn large_strings(w: Arc<World>) {
    let a = ('a'..='z').cycle().take(w.enough(200_000));
    let b = ('D'..='Z').rev().cycle().take(w.enough(123_457));
    let (a, b): (String, String) = (a.collect(), b.collect());
    echo!(w.echo_string(&a, &b));
    let most = u32::try_from(w.enough(300_000)).unwrap();
    for n in [0, 1, 8190, 8191, 8192, most] {
        let found = w.peer.make_string(n).await.unwrap();
        assert_eq!(found, "x".repeat(n as usize), "make_string({n})");
    }
}

pub(super) async fn large_structs(w: Arc<World>) {
    let mut d = Dice(9);
    let mut many = |n| d.many(w.enough(n), Sample::sample);
    let (a, b) = (many(5000), many(3001));
    echo!(w.echo_odds(&a, &b));
    let mut many = |n| d.many(w.enough(n), Sample::sample);
    let (a, b) = (many(1500), many(999));
    echo!(w.echo_outers(&a, &b));
}

/// 1.9 MiB, which every ORB takes with its default settings.
pub(super) const BIG: u32 = 1_992_294;

pub(super) async fn big_messages(w: Arc<World>) {
    let size = w.enough(BIG as usize);
    let number = u32::try_from(size).unwrap();
    let octets = Dice(14).octets(size);
    let digest = digest!(octets);
    assert_eq!(w.peer.take_octets(octets).await.unwrap(), digest);
    let found = w.peer.make_octets(number).await.unwrap();
    assert!(found.iter().copied().eq((0..number).map(octet_at)));
    assert_eq!(w.peer.make_string(number).await.unwrap(), "x".repeat(size));
}

/// 5 MiB, for servers whose limit has been raised.
pub(super) async fn very_big_messages(w: Arc<World>) {
    let octets = Dice(15).octets(5 << 20);
    let digest = digest!(octets);
    assert_eq!(w.peer.take_octets(octets).await.unwrap(), digest);
    let found = w.peer.make_octets(5 << 20).await.unwrap();
    assert!(found.iter().copied().eq((0..5 << 20).map(octet_at)));
}

fn names_the_limit(exception: &SystemException) {
    let said = exception.to_string();
    for expected in ["omniORB", "2097152 octets", "giopMaxMsgSize"] {
        assert!(said.contains(expected), "expected {expected:?} in {said}");
    }
}

/// 5 MiB, which is more than omniORB takes, or sends, by default. It ends the connection as a rule, and the next call
/// gets another one; calls on other connections are not touched.
pub(super) async fn too_big(w: Arc<World>) {
    beyond_the_limit(&w, &w.peer).await;
}

/// The same by a reference that does not say whose it is.
pub(super) async fn too_big_by_corbaloc(w: Arc<World>) {
    let way = w.way.as_ref().expect("a way");
    let url = way.corbaloc(w.peer.as_object().ior());
    let object = w.orb.string_to_object(&url).await.unwrap();
    beyond_the_limit(&w, &object.unchecked_narrow()).await;
}

async fn beyond_the_limit(w: &World, peer: &PeerRef) {
    let reference = w.orb.object_to_string(&w.peer);
    let other = Orb::builder().build().await.expect("an ORB");
    let bystander: PeerRef = other
        .string_to_object(&reference)
        .await
        .unwrap()
        .unchecked_narrow();
    let waiting = tokio::spawn(async move { bystander.wait("too_big").await });
    while w.peer.waiting("too_big").await.unwrap() == 0 {}

    let octets = Dice(15).octets(5 << 20);
    for _ in 0..2 {
        let outcome = peer.take_octets(octets.clone()).await;
        names_the_limit(&raised(outcome, Kind::CommFailure, None));
        peer.nothing().await.unwrap();
        let outcome = peer.make_octets(5 << 20).await;
        // In GIOP 1.0 it counts a reply before it sends any of it.
        let (kind, completed) = if profile(peer.as_object().ior()).version == Version::V1_0 {
            (Kind::Marshal, CompletionStatus::Yes)
        } else {
            (Kind::CommFailure, CompletionStatus::Maybe)
        };
        names_the_limit(&raised(outcome, kind, completed));
        peer.nothing().await.unwrap();
    }
    assert_eq!(w.peer.open("too_big", 1).await.unwrap(), 1);
    assert_eq!(waiting.await.unwrap(), Ok(true));
}
