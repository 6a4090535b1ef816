//! Arbitrary octets are explained as far as possible, without a panic.

use super::*;
use proptest::prelude::*;
use zorb_cdr::{BigEndian, Encoder, WireFormat};

fn said(text: &str) -> String {
    let mut items = Vec::new();
    explain_text(text, 0, &mut items);
    let mut out = Vec::new();
    for item in &items {
        item.write(&mut out, &Paint::new()).unwrap();
        let _ = item.to_json().to_string();
    }
    let out = anstream::adapter::strip_bytes(&out).into_vec();
    String::from_utf8(out).unwrap()
}

fn ior(octets: &[u8]) -> String {
    said(&format!("IOR:{}", tree::hex(octets)))
}

/// A reference with one component of every kind that is decoded, its data `data`.
fn with_components(data: &[u8]) -> Vec<u8> {
    const TAGS: [u32; 20] = [
        0,
        1,
        2,
        3,
        20,
        25,
        27,
        28,
        29,
        33,
        34,
        36,
        38,
        39,
        99,
        0x4154_5401,
        0x4154_5402,
        0x4154_5403,
        0x5441_4f02,
        0xffff_ffff,
    ];
    let encapsulate = |write: &dyn Fn(&mut Encoder<BigEndian>)| {
        let mut e = Encoder::new(WireFormat::default());
        e.write_u8(0);
        write(&mut e);
        e.finish().to_vec()
    };
    let body = encapsulate(&|e| {
        e.write_u8(1);
        e.write_u8(2);
        e.write_raw_string(b"host").unwrap();
        e.write_u16(1);
        e.write_octets(b"key").unwrap();
        e.write_u32(u32::try_from(TAGS.len()).unwrap());
        for tag in TAGS {
            e.write_u32(tag);
            e.write_octets(data).unwrap();
        }
    });
    encapsulate(&|e| {
        e.write_raw_string(b"IDL:X:1.0").unwrap();
        e.write_u32(1);
        e.write_u32(0);
        e.write_octets(&body).unwrap();
    })
}

/// A well-formed reference to break.
const WHOLE: &str = include_str!("../../tests/ior/omniorb-unix.txt");

fn whole() -> Vec<u8> {
    let digits = WHOLE
        .lines()
        .find_map(|line| line.strip_prefix("IOR:"))
        .unwrap();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// The explanation of a key of TAO: persistent, below the root, with USER_ID.
fn tao_key(path: &[u8], id: &[u8]) -> String {
    let size = u32::try_from(path.len()).unwrap().to_be_bytes();
    let key = [&b"\x14\x01\x0f\x00NUP"[..], &size, path, id].concat();
    keys::explain(&key, None).to_json().to_string()
}

#[test]
fn hints_of_tao_are_no_part_of_path_and_id() {
    let plain = tao_key(b"Bank\0Accounts\0", b"savings/4711");
    assert!(
        plain.contains("\"Bank/Accounts\"") && plain.contains("\"savings/4711\""),
        "{plain}"
    );
    assert!(!plain.contains("hint"), "{plain}");
    for hint in [
        [0; 8],
        [1, 0, 0, 0, 0x39, 0x30, 0, 0],
        [0, 0, 0x30, 0x39, 0, 0, 0, 1],
    ] {
        let hinted = tao_key(
            &[&hint[..], b"Bank\0Accounts\0"].concat(),
            &[&hint[..], b"savings/4711"].concat(),
        );
        assert!(
            hinted.contains("\"Bank/Accounts\"") && hinted.contains("\"savings/4711\""),
            "{hinted}"
        );
        assert_eq!(hinted.matches(&tree::hex(&hint)).count(), 4, "{hinted}");
    }
    // Names of one letter are not taken for a hint, nor is an id of eight octets.
    let short = tao_key(b"A\0B\0C\0D\0", &[0, 0, 0, 1, 0, 0, 0, 2]);
    assert!(
        short.contains("\"A/B/C/D\"") && !short.contains("hint"),
        "{short}"
    );
}

proptest! {
    #[test]
    fn any_octets_are_explained(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
        ior(&octets);
    }

    #[test]
    fn any_text_is_explained(text in "\\PC{0,80}") {
        said(&text);
        said(&format!("IOR:{text}"));
        said(&format!("corbaloc:{text}"));
        said(&format!("corbaname::h#{text}"));
    }

    #[test]
    fn any_component_is_explained(
        order in 0u8..3,
        mut data in proptest::collection::vec(prop_oneof![Just(0u8), Just(1u8), any::<u8>()], 0..80),
    ) {
        data.insert(0, order);
        let said = ior(&with_components(&data));
        prop_assert!(said.contains("TAG_CSI_SEC_MECH_LIST"));
    }

    #[test]
    fn any_key_is_explained(
        head in prop_oneof![
            Just(&b"ZRB"[..]), Just(&b"ZRB\x01"[..]), Just(&b"\x14\x01\x0f\x00NUP"[..]),
            Just(&b"\x14\x01\x0f\x00RST"[..]), Just(&b"\xff"[..]), Just(&b"\xfe"[..]), Just(&b""[..]),
        ],
        tail in proptest::collection::vec(prop_oneof![Just(0u8), Just(0xffu8), any::<u8>()], 0..40),
    ) {
        keys::explain(&[head, &tail].concat(), Some("JacORB")).to_json();
    }

    #[test]
    fn one_wrong_octet_never_hides_the_type_id(at in 50usize..195, octet: u8) {
        let mut octets = whole();
        octets[at] = octet;
        prop_assert!(ior(&octets).contains("IDL:zorb.test/Interop/Peer:1.0"));
    }
}

#[test]
fn a_reference_cut_anywhere_is_reported_as_malformed_and_explained_up_to_there() {
    let whole = whole();
    assert!(!ior(&whole).contains("malformed"));
    for end in 0..whole.len() {
        let said = ior(&whole[..end]);
        assert!(said.contains("malformed"), "{end}: {said}");
        assert_eq!(said.contains("Type id"), end >= 39, "{end}: {said}");
        assert_eq!(said.contains("127.0.0.1:47001"), end >= 72, "{end}: {said}");
        assert_eq!(said.contains("omniORB"), end >= 90, "{end}: {said}");
    }
}

#[test]
fn nothing_in_a_reference_reaches_the_terminal_as_a_command() {
    let hostile = b"\x1b[2J\x07\xc2\x9b";
    let mut e = Encoder::<BigEndian>::new(WireFormat::default());
    e.write_u8(0);
    e.write_raw_string(hostile).unwrap();
    e.write_u32(1);
    e.write_u32(0);
    let mut body = vec![0, 1, 0, 0, 0, 0, 0, 8];
    body.extend_from_slice(hostile);
    body.extend_from_slice(&[0, 0, 0, 7, 0, 0, 0, 3, b'k', 0x1b, b'k']);
    e.write_octets(&body).unwrap();
    let item = reference::explain(&e.finish().to_vec());
    let plain = Paint::plain();
    let mut out = Vec::new();
    item.write(&mut out, &plain).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("\\u{1b}[2J\\u{7}"), "{out}");
    assert!(
        !out.contains(|c: char| c.is_control() && c != '\n'),
        "{out:?}"
    );
}

#[test]
fn digits_wrapped_over_lines_are_one_reference() {
    let wrapped = WHOLE
        .lines()
        .find(|line| line.starts_with("IOR:"))
        .unwrap()
        .as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(wrapped.lines().count() > 3);
    assert_eq!(said(&wrapped), ior(&whole()));
}

#[test]
fn what_is_no_reference_is_said_to_be_none() {
    for (text, why) in [
        ("", "found nothing"),
        (
            "hello",
            "expected IOR:, corbaloc:, corbaname: or file:, found \"hello\"",
        ),
        ("IOR:", "found no octet"),
        ("IOR:0", "found 1 digits"),
        ("IOR:00zz", "found 'z' at digit 2"),
        ("corbaloc::h:99999/k", "expected a port between 0 and 65535"),
        ("file:///no/such/file", "cannot read /no/such/file"),
    ] {
        assert!(said(text).contains(why), "{text}: {}", said(text));
    }
}

#[test]
fn parts_of_a_name_have_no_escapes_and_the_name_has_those_that_are_typed() {
    let said = said(r"corbaname::h#a%5c%5cb%5c.c.k%22");
    assert!(said.contains(r#"Name  a\\b\.c.k""#), "{said}");
    assert!(said.contains(r#"id "a\b.c"  kind "k"""#), "{said}");
}
