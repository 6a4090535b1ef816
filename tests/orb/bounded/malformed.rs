//! Anys and TypeCodes that are not what they should be: the octets' fault, and never a parameter's.

use super::mill::{MOST, Mill};
use zorb::{SystemExceptionKind as Kind, minor};
use zorb_cdr::{EncodeError, Encoder, LittleEndian, WireFormat};

type Written = Result<(), EncodeError>;
type Write = fn(&mut Encoder<LittleEndian>) -> Written;

/// Unsigned longs.
fn longs(e: &mut Encoder<LittleEndian>, longs: &[u32]) -> Written {
    longs.iter().for_each(|long| e.write_u32(*long));
    Ok(())
}

/// A TypeCode with an id, a name and whatever else.
fn named(e: &mut Encoder<LittleEndian>, kind: u32, rest: Write) -> Written {
    e.write_u32(kind);
    e.encapsulation(|e| {
        e.write_raw_string(b"IDL:X:1.0")?;
        e.write_raw_string(b"X")?;
        rest(e)
    })
}

/// A chain of `count` aliases around a long.
fn aliases(e: &mut Encoder<LittleEndian>, count: u32) -> Written {
    match count.checked_sub(1) {
        None => longs(e, &[3]),
        Some(less) => {
            e.write_u32(21);
            e.encapsulation(|e| {
                e.write_raw_string(b"IDL:X:1.0")?;
                e.write_raw_string(b"X")?;
                aliases(e, less)
            })
        }
    }
}

/// `fixed<4, 2>` with these octets.
fn fixed(e: &mut Encoder<LittleEndian>, octets: [u8; 3]) -> Written {
    e.write_u32(28);
    e.write_u16(4);
    e.write_i16(2);
    e.append(&octets);
    Ok(())
}

const MARSHAL: (Kind, u32) = (Kind::Marshal, 0);
const UNKNOWN_VALUE: (Kind, u32) = (Kind::Marshal, minor::NO_VALUE_FACTORY);
const TEXT: (Kind, u32) = (Kind::DataConversion, minor::CHARACTER_NOT_IN_CODE_SET);

const TYPES: [(&str, Write, (Kind, u32)); 24] = [
    ("no kind", |e| longs(e, &[37]), MARSHAL),
    (
        "a kind below the indirection",
        |e| longs(e, &[0xffff_fffe]),
        MARSHAL,
    ),
    (
        "an indirection to itself",
        |e| longs(e, &[u32::MAX, 0xffff_fffc]),
        MARSHAL,
    ),
    (
        "an indirection forwards",
        |e| longs(e, &[u32::MAX, 8, 3]),
        MARSHAL,
    ),
    (
        "an indirection out of it",
        |e| longs(e, &[u32::MAX, 0xffff_fff4]),
        MARSHAL,
    ),
    ("no digits", |e| longs(e, &[28, 0]), MARSHAL),
    ("32 digits", |e| longs(e, &[28, 32]), MARSHAL),
    (
        "65535 digits before the point",
        |e| longs(e, &[28, 0xffff_ffff]),
        MARSHAL,
    ),
    (
        "an encapsulation beyond the end",
        |e| longs(e, &[15, 1000]),
        MARSHAL,
    ),
    (
        "an encapsulation of nothing",
        |e| longs(e, &[15, 0]),
        MARSHAL,
    ),
    (
        "an encapsulation without a byte order",
        |e| longs(e, &[15, 4, 7, 0]),
        MARSHAL,
    ),
    (
        "an id without an end",
        |e| longs(e, &[14, 12, 1, 4, 0x5858_5858]),
        MARSHAL,
    ),
    (
        "an id beyond the end",
        |e| longs(e, &[14, 12, 1, 100, 0]),
        MARSHAL,
    ),
    (
        "more members than octets",
        |e| named(e, 15, |e| longs(e, &[0x1000_0000])),
        MARSHAL,
    ),
    (
        "more enumerators than octets",
        |e| named(e, 17, |e| longs(e, &[u32::MAX])),
        MARSHAL,
    ),
    (
        "an alias of itself",
        |e| named(e, 21, |e| longs(e, &[u32::MAX, 0xffff_ffdc])),
        MARSHAL,
    ),
    (
        "a sequence of itself",
        |e| {
            e.write_u32(19);
            e.encapsulation(|e| longs(e, &[u32::MAX, 0xffff_fff0, 0]))
        },
        MARSHAL,
    ),
    ("65 aliases", |e| aliases(e, 65), MARSHAL),
    (
        "a union over strings",
        |e| named(e, 16, |e| longs(e, &[18, 0, 0, 0])),
        MARSHAL,
    ),
    (
        "a union over a union",
        |e| named(e, 16, |e| longs(e, &[16, 4, 1, 0])),
        MARSHAL,
    ),
    (
        "a default beyond the members",
        |e| named(e, 16, |e| longs(e, &[3, 5, 0])),
        MARSHAL,
    ),
    (
        "a union without its labels",
        |e| named(e, 16, |e| longs(e, &[3, 0, 1, 1])),
        MARSHAL,
    ),
    (
        "a value without its members",
        |e| {
            named(e, 29, |e| {
                e.write_i16(0);
                longs(e, &[0, 1])
            })
        },
        MARSHAL,
    ),
    (
        "half a bound",
        |e| {
            e.write_u32(18);
            e.write_u16(1);
            Ok(())
        },
        MARSHAL,
    ),
];

const ANYS: [(&str, Write, (Kind, u32)); 33] = [
    ("no value", |e| longs(e, &[3]), MARSHAL),
    (
        "half a value",
        |e| {
            e.write_u32(5);
            e.write_u16(1);
            Ok(())
        },
        MARSHAL,
    ),
    ("a native one", |e| named(e, 31, |_| Ok(())), MARSHAL),
    ("a local object", |e| named(e, 33, |_| Ok(())), MARSHAL),
    (
        "text without an end",
        |e| longs(e, &[18, 0, 4, 0x5858_5858]),
        MARSHAL,
    ),
    (
        "text beyond the end",
        |e| longs(e, &[18, 0, 0x7fff_ffff]),
        MARSHAL,
    ),
    (
        "text beyond its bound",
        |e| longs(e, &[18, 2, 4, 0x0058_5858]),
        MARSHAL,
    ),
    (
        "text with a NUL",
        |e| longs(e, &[18, 0, 4, 0x0058_0058]),
        MARSHAL,
    ),
    (
        "wide text of odd length",
        |e| longs(e, &[27, 0, 3, 0x5858_5858]),
        MARSHAL,
    ),
    (
        "wide text beyond the end",
        |e| longs(e, &[27, 0, 0x7fff_fffe]),
        MARSHAL,
    ),
    (
        "wide text beyond its bound",
        |e| longs(e, &[27, 1, 4, 0x5800_5800]),
        MARSHAL,
    ),
    (
        "wide text with a NUL",
        |e| longs(e, &[27, 0, 4, 0]),
        MARSHAL,
    ),
    (
        "half a surrogate pair",
        |e| longs(e, &[27, 0, 2, 0x00d8]),
        TEXT,
    ),
    (
        "a wide character of three octets",
        |e| longs(e, &[26, 0x5858_5803]),
        MARSHAL,
    ),
    ("a wide character of none", |e| longs(e, &[26, 0]), MARSHAL),
    (
        "no enumerator",
        |e| {
            named(e, 17, |e| {
                e.write_u32(1);
                e.write_raw_string(b"A")
            })?;
            longs(e, &[1])
        },
        MARSHAL,
    ),
    (
        "a union over an enum, without it",
        |e| {
            named(e, 16, |e| {
                named(e, 17, |e| {
                    e.write_u32(1);
                    e.write_raw_string(b"A")
                })?;
                longs(e, &[u32::MAX, 0])
            })?;
            longs(e, &[1])
        },
        MARSHAL,
    ),
    (
        "a decimal without a sign",
        |e| fixed(e, [0x01, 0x23, 0x45]),
        MARSHAL,
    ),
    (
        "a decimal with a letter",
        |e| fixed(e, [0x01, 0xa3, 0x4c]),
        MARSHAL,
    ),
    (
        "a decimal of five digits",
        |e| fixed(e, [0x11, 0x23, 0x4c]),
        MARSHAL,
    ),
    (
        "more elements than octets",
        |e| {
            e.write_u32(19);
            e.encapsulation(|e| longs(e, &[3, 0]))?;
            longs(e, &[100, 1])
        },
        MARSHAL,
    ),
    (
        "more elements than the bound",
        |e| {
            e.write_u32(19);
            e.encapsulation(|e| longs(e, &[3, 1]))?;
            longs(e, &[2, 1, 2])
        },
        MARSHAL,
    ),
    (
        "more elements that take nothing",
        |e| {
            e.write_u32(19);
            e.encapsulation(|e| longs(e, &[1, 0]))?;
            longs(e, &[5000])
        },
        MARSHAL,
    ),
    (
        "an array of 4 GiB",
        |e| {
            e.write_u32(20);
            e.encapsulation(|e| longs(e, &[10, u32::MAX]))
        },
        MARSHAL,
    ),
    (
        "an array of 4 milliards of nothings",
        |e| {
            e.write_u32(20);
            e.encapsulation(|e| longs(e, &[0, u32::MAX]))
        },
        MARSHAL,
    ),
    ("anys without end", |e| longs(e, &[11; 400]), MARSHAL),
    (
        "a reference with more profiles than octets",
        |e| {
            named(e, 14, |_| Ok(()))?;
            longs(e, &[1, 0, u32::MAX])
        },
        MARSHAL,
    ),
    (
        "a value of no known type",
        |e| {
            named(e, 29, |e| {
                e.write_i16(0);
                longs(e, &[0, 0])
            })?;
            e.write_u32(0x7fff_ff02);
            e.write_raw_string(b"IDL:Y:1.0")
        },
        UNKNOWN_VALUE,
    ),
    (
        "a value with a tag that there is not",
        |e| {
            named(e, 29, |e| {
                e.write_i16(0);
                longs(e, &[0, 0])
            })?;
            longs(e, &[0x7fff_ff04])
        },
        MARSHAL,
    ),
    (
        "a value that ends two",
        |e| {
            named(e, 29, |e| {
                e.write_i16(0);
                longs(e, &[0, 0])
            })?;
            longs(e, &[0x7fff_ff08, 0xffff_fffe])
        },
        MARSHAL,
    ),
    (
        "a value that stands nowhere",
        |e| {
            named(e, 29, |e| {
                e.write_i16(0);
                longs(e, &[0, 0])
            })?;
            longs(e, &[u32::MAX, 0xffff_fffc])
        },
        MARSHAL,
    ),
    (
        "an abstract interface that is a number",
        |e| {
            named(e, 32, |_| Ok(()))?;
            e.write_u8(0);
            longs(e, &[7])
        },
        MARSHAL,
    ),
    (
        "half a long double",
        |e| {
            e.write_u32(25);
            e.write_f64(0.0);
            Ok(())
        },
        MARSHAL,
    ),
];

#[tokio::test]
async fn what_is_wrong_with_types_and_anys_is_the_octets_fault_and_never_a_parameters() {
    let mut mill = Mill::start().await;
    let mut wrong = Vec::new();
    let types = TYPES.iter().map(|case| ("check_type", case));
    let anys = ANYS.iter().map(|case| ("check_any", case));
    for (operation, (what, write, expected)) in types.chain(anys) {
        let mut e = Encoder::<LittleEndian>::new(WireFormat::default());
        e.write_u32(0);
        if operation == "check_any" {
            e.write_u32(0);
        }
        write(&mut e).unwrap();
        let body = e.finish().to_vec();
        let answer = mill.answer::<LittleEndian>(operation, true, &body).await;
        let seen = answer.as_ref().map_err(|error| (error.kind, error.minor));
        if seen != Err(*expected) {
            wrong.push(format!("{what}: expected {expected:?}, found {answer:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Wide text of a client that has not said how it writes it is the one that CORBA calls a parameter's fault. Once
    // said, it holds for the connection.
    let body = [&[0; 8][..], &[27, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 88]].concat();
    let mut other = Mill::start().await;
    let answer = other.answer::<LittleEndian>("check_any", false, &body);
    let error = answer.await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::BadParam, minor::NO_WCHAR_CODE_SET)
    );
    let answer = mill.answer::<LittleEndian>("check_any", false, &body);
    assert!(answer.await.is_ok());
    assert!(mill.most < MOST, "{} octets", mill.most);
}
