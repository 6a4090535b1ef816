//! TypeCodes: their form on the wire, against octets written by hand from the specification; what is malformed; when two
//! are the same; how they look.

use crate::common::modern;
use zorb_cdr::{
    BigEndian, ByteOrder, DecodeErrorKind, Decoder, Encoder, LittleEndian, NativeEndian, TcKind,
    TypeCode, WireFormat,
};

/// Octets from hexadecimal digits, blanks anywhere.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).unwrap()).unwrap())
        .collect();
    assert!(digits.len().is_multiple_of(2));
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn kind(kind: TcKind) -> TypeCode {
    TypeCode::of_kind(kind).unwrap()
}

fn encode<O: ByteOrder>(ty: &TypeCode) -> Vec<u8> {
    let mut e = Encoder::<O>::new(modern());
    e.put(ty).unwrap();
    e.finish().to_vec()
}

fn decode<O: ByteOrder>(octets: &[u8]) -> TypeCode {
    let mut d = Decoder::<O>::from_slice(octets, modern());
    let ty = d.get::<TypeCode>().unwrap();
    assert_eq!(d.remaining(), 0);
    ty
}

/// `ty` is these octets, in big endian, and reads back from them; in little endian it reads back from its own.
#[track_caller]
fn check(ty: &TypeCode, octets: &str) {
    let octets = hex(octets);
    assert_eq!(encode::<BigEndian>(ty), octets, "{ty:?}");
    assert_eq!(&decode::<BigEndian>(&octets), ty);
    assert_eq!(&decode::<LittleEndian>(&encode::<LittleEndian>(ty)), ty);
}

fn point() -> TypeCode {
    TypeCode::structure(
        "IDL:P:1.0",
        "P",
        &[("x", kind(TcKind::Long)), ("s", TypeCode::string(3))],
    )
}

fn node() -> TypeCode {
    let children = TypeCode::sequence(&TypeCode::recursive("IDL:N:1.0"), 0);
    TypeCode::structure("IDL:N:1.0", "N", &[("c", children)])
}

#[test]
fn a_kind_without_parameters_is_its_number() {
    check(&kind(TcKind::Null), "00000000");
    check(&kind(TcKind::Any), "0000000b");
    check(&kind(TcKind::LongDouble), "00000019");
    for number in 0..37 {
        let kind = TcKind::from_number(number).unwrap();
        assert_eq!(kind.number(), number);
        if let Some(ty) = TypeCode::of_kind(kind) {
            assert_eq!(ty.kind(), kind);
            check(&ty, &format!("{number:08x}"));
        }
    }
    assert_eq!(TcKind::from_number(37), None);
}

#[test]
fn strings_and_fixed_have_their_parameters_in_line() {
    check(&TypeCode::string(0), "00000012 00000000");
    check(&TypeCode::wstring(7), "0000001b 00000007");
    check(&TypeCode::fixed(5, 2), "0000001c 0005 0002");
    check(&TypeCode::fixed(5, -2), "0000001c 0005 fffe");
    check(&TypeCode::fixed(31, 0), "0000001c 001f 0000");
    for digits in [0, 32, u16::MAX] {
        let mut e = Encoder::<BigEndian>::new(modern());
        let error = e.put(&TypeCode::fixed(digits, -1)).unwrap_err();
        assert_eq!(error.to_string(), "expected a fixed of 1 to 31 digits");
    }
}

#[test]
fn sequences_and_arrays_are_encapsulations() {
    check(
        &TypeCode::sequence(&kind(TcKind::Octet), 0),
        "00000013 0000000c 00 000000 0000000a 00000000",
    );
    let inner = TypeCode::array(&kind(TcKind::Short), 3);
    check(
        &TypeCode::array(&inner, 2),
        "00000014 0000001c 00 000000
           00000014 0000000c 00 000000 00000002 00000003
         00000002",
    );
}

#[test]
fn named_types_have_id_and_name_first() {
    check(
        &TypeCode::interface("IDL:A:1.0", "A"),
        "0000000e 0000001a 00 000000 0000000a 49444c3a413a312e3000 0000 00000002 4100",
    );
    check(
        &TypeCode::enumeration("IDL:E:1.0", "E", &["a", "bc"]),
        "00000011 0000002f 00 000000 0000000a 49444c3a453a312e3000 0000 00000002 4500 0000
         00000002 00000002 6100 0000 00000003 626300",
    );
    check(
        &TypeCode::alias("IDL:L:1.0", "L", &kind(TcKind::Long)),
        "00000015 00000020 00 000000 0000000a 49444c3a4c3a312e3000 0000 00000002 4c00 0000
         00000003",
    );
    check(
        &point(),
        "0000000f 0000003c 00 000000 0000000a 49444c3a503a312e3000 0000 00000002 5000 0000
         00000002
         00000002 7800 0000 00000003
         00000002 7300 0000 00000012 00000003",
    );
}

#[test]
fn the_label_of_a_default_is_one_zero_octet() {
    let ty = TypeCode::union(
        "IDL:U:1.0",
        "U",
        &kind(TcKind::Short),
        &[
            (Some(-1), "a", kind(TcKind::Long)),
            (None, "b", kind(TcKind::Octet)),
        ],
    )
    .unwrap();
    check(
        &ty,
        "00000010 00000048 00 000000 0000000a 49444c3a553a312e3000 0000 00000002 5500 0000
         00000002 00000001 00000002
         ffff 0000 00000002 6100 0000 00000003
         00 000000 00000002 6200 0000 0000000a",
    );
    assert_eq!(ty.default_index(), Some(1));
    assert_eq!((ty.member_label(0), ty.member_label(1)), (Some(-1), None));
}

/// A union over `long long` with a default among other members, whose label is what `label` writes.
fn over_long_long<O: ByteOrder>(
    union: &TypeCode,
    id: &str,
    label: impl Fn(&mut Encoder<O>),
) -> Vec<u8> {
    let mut e = Encoder::<O>::new(modern());
    e.write_u32(16);
    e.encapsulation(|e| {
        e.write_raw_string(id.as_bytes())?;
        e.write_raw_string(b"U")?;
        e.write_u32(23);
        let default = union.default_index().unwrap();
        e.write_i32(i32::try_from(default).unwrap());
        e.write_count(union.member_count())?;
        for index in 0..union.member_count() {
            match union.member_label(index) {
                None => label(e),
                Some(label) => e.write_i64(i64::try_from(label).unwrap()),
            }
            e.write_raw_string(union.member_name(index).unwrap().as_bytes())?;
            e.put(&union.member_type(index).unwrap())?;
        }
        Ok(())
    })
    .unwrap();
    e.finish().to_vec()
}

const EITHER: DecodeErrorKind = DecodeErrorKind::Expected(
    "a default label that is surely one octet, or surely a discriminator",
);

#[test]
fn a_default_label_of_eight_octets_is_read_where_it_is_unambiguous() {
    fn check<O: ByteOrder>(union: &TypeCode, id: &str, name: &str) {
        for label in [0_i64, 1, -1, 5, i64::MIN, i64::MAX] {
            let octets = over_long_long::<O>(union, id, |e| e.write_i64(label));
            match Decoder::<O>::from_slice(&octets, modern()).get::<TypeCode>() {
                // Half of it could be the length of an empty name.
                Err(error) if label == 1 => assert_eq!(error.kind(), EITHER),
                read => assert_eq!(read.as_ref(), Ok(union), "{label} for {name}"),
            }
        }
        let octets = over_long_long::<O>(union, id, |e| e.write_u8(0));
        assert_eq!(&decode::<O>(&octets), union, "{name}");
    }
    let simple = [
        TcKind::Long,
        TcKind::Boolean,
        TcKind::Double,
        TcKind::Any,
        TcKind::LongLong,
    ];
    let types = simple.map(kind).into_iter().chain([TypeCode::string(0)]);
    for ty in types.chain([
        TypeCode::string(7),
        point(),
        TypeCode::sequence(&point(), 3),
    ]) {
        // Ids that have the label begin at a multiple of eight, and behind one.
        for id in ["IDL:U:1.0", "IDL:Union:1.0"] {
            for name in ["a", "ab", "other", "a_name_of_31_octets_and_no_more"] {
                for default in 0..3 {
                    let labels = (0..3).map(|n| (n != default).then_some(i128::from(n)));
                    let members: Vec<_> = labels.map(|label| (label, name, ty.clone())).collect();
                    let discriminator = kind(TcKind::LongLong);
                    let union = TypeCode::union(id, "U", &discriminator, &members).unwrap();
                    check::<BigEndian>(&union, id, name);
                    check::<LittleEndian>(&union, id, name);
                }
            }
        }
    }
}

#[test]
fn a_default_label_that_could_be_of_one_octet_or_of_eight_is_refused() {
    // Eight octets and a name without letters, or one octet, such a name, and a type of nothing.
    let discriminator = kind(TcKind::LongLong);
    let members = [
        (None, "", kind(TcKind::Long)),
        (Some(2), "", kind(TcKind::Long)),
    ];
    let union = TypeCode::union("IDL:U:1.0", "U", &discriminator, &members).unwrap();
    let octets = over_long_long::<BigEndian>(&union, "IDL:U:1.0", |e| e.write_i64(1));
    let read = Decoder::<BigEndian>::from_slice(&octets, modern()).get::<TypeCode>();
    assert_eq!(read.unwrap_err().kind(), EITHER);
    let octets = over_long_long::<BigEndian>(&union, "IDL:U:1.0", |e| e.write_u8(0));
    assert_eq!(decode::<BigEndian>(&octets), union);
}

#[test]
fn a_recursive_type_points_back_to_its_kind() {
    // The offset stands at 64 and leads to 0.
    check(
        &node(),
        "0000000f 00000040 00 000000 0000000a 49444c3a4e3a312e3000 0000 00000002 4e00 0000
         00000001
         00000002 6300 0000 00000013 00000010 00 000000 ffffffff ffffffc0 00000000",
    );
    let children = node().member_type(0).unwrap();
    assert_eq!(children.content_type(), Some(node()));
}

#[test]
fn a_type_that_comes_twice_is_written_once() {
    let pair = TypeCode::structure("IDL:Q:1.0", "Q", &[("a", point()), ("b", point())]);
    let same = pair.member_type(0).unwrap();
    let shared = TypeCode::structure("IDL:Q:1.0", "Q", &[("a", same.clone()), ("b", same)]);
    let read = decode::<BigEndian>(&encode::<BigEndian>(&shared));
    assert_eq!(read, pair);
    let again = encode::<BigEndian>(&read);
    assert_eq!(decode::<BigEndian>(&again), pair);
}

#[test]
fn indirections_count_across_encapsulations_of_either_order() {
    // A struct in little endian, within it a sequence in big endian that leads back.
    let octets = hex(
        "0000000f 00000040 01 000000 0a000000 49444c3a4e3a312e3000 0000 02000000 4e00 0000
         01000000
         02000000 6300 0000 13000000 10000000 00 000000 ffffffff ffffffc0 00000000",
    );
    assert_eq!(decode::<BigEndian>(&octets), node());
}

#[track_caller]
fn refused(octets: &str) -> DecodeErrorKind {
    let octets = hex(octets);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    d.get::<TypeCode>().unwrap_err().kind()
}

#[test]
fn indirections_that_lead_nowhere_are_refused() {
    let expected = |what| DecodeErrorKind::Expected(what);
    let nowhere = expected("an indirection to a TypeCode that was begun before");
    // To itself, forward, before the start, to nothing at all.
    for offset in ["fffffffc", "00000000", "00000008", "ffffff00", "80000000"] {
        assert_eq!(refused(&format!("ffffffff {offset} 00000000")), nowhere);
    }
    // Into the middle of a type: to the name of the struct that it is in.
    let middle = refused(
        "0000000f 00000040 00 000000 0000000a 49444c3a4e3a312e3000 0000 00000002 4e00 0000
         00000001
         00000002 6300 0000 00000013 00000010 00 000000 ffffffff ffffffd8 00000000",
    );
    assert_eq!(middle, nowhere);
    // A sequence of itself, an alias of itself.
    let endless =
        expected("an indirection to a struct, union or value, if to one that is not complete");
    assert_eq!(
        refused("00000013 00000010 00 000000 ffffffff fffffff0 00000000"),
        endless
    );
    assert_eq!(
        refused(
            "00000015 0000001c 00 000000 00000001 00 000000 00000001 00 000000 ffffffff ffffffe0"
        ),
        endless
    );
}

#[test]
fn kinds_and_parameters_that_are_none_are_refused() {
    assert_eq!(
        refused("00000025"),
        DecodeErrorKind::Expected("a kind of TypeCode")
    );
    // A union over a double; a default that is no member.
    let union = |discriminator: &str, default: &str| {
        refused(&format!(
            "00000010 00000020 00 000000 00000001 00 000000 00000001 00 000000
             {discriminator} {default} 00000000"
        ))
    };
    assert_eq!(
        union("00000007", "ffffffff"),
        DecodeErrorKind::Expected("a type that unions may switch over")
    );
    let default =
        DecodeErrorKind::Expected("the index of the default among the members of the union");
    assert_eq!(union("00000002", "00000000"), default);
    // More members than there are octets.
    assert!(matches!(
        refused("0000000f 00000014 00 000000 00000001 00 000000 00000001 00 000000 10000000"),
        DecodeErrorKind::Truncated { .. } | DecodeErrorKind::CountTooLarge { .. }
    ));
}

#[test]
fn sequences_within_each_other_are_refused_when_they_are_too_many() {
    let nested = |levels| {
        let ty = (0..levels).fold(kind(TcKind::Long), |ty, _| TypeCode::sequence(&ty, 0));
        let octets = encode::<BigEndian>(&ty);
        Decoder::<BigEndian>::from_slice(&octets, modern()).get::<TypeCode>()
    };
    assert!(nested(128).is_ok());
    assert_eq!(
        nested(129).unwrap_err().kind(),
        DecodeErrorKind::TooDeep { limit: 128 }
    );
    let ty = (0..300).fold(kind(TcKind::Long), |ty, _| TypeCode::sequence(&ty, 0));
    let mut e = Encoder::<BigEndian>::new(modern());
    assert!(e.put(&ty).is_err());
}

#[test]
fn a_type_that_doubles_at_each_level_takes_no_longer_than_its_octets() {
    // struct { a = struct { a = ..., b = the same }, b = the same }, forty levels deep: 2^40 leaves.
    let ty = (0..40).fold(kind(TcKind::Long), |ty, n| {
        let pair = TypeCode::structure(&format!("IDL:T{n}:1.0"), "", &[("a", ty.clone())]);
        let inner = pair.member_type(0).unwrap();
        TypeCode::structure(
            &format!("IDL:T{n}:1.0"),
            "",
            &[("a", inner.clone()), ("b", inner)],
        )
    });
    assert_eq!(decode::<BigEndian>(&encode::<BigEndian>(&ty)), ty);
    // The same as octets.
    let mut level = hex("00000003");
    for _ in 0..40 {
        // Members: a is the level below, b leads back to where it stands, 48 octets behind our kind.
        let mut inside =
            hex("00 000000 00000001 00 000000 00000001 00 000000 00000002 00000002 6100 0000");
        let at = inside.len();
        inside.extend_from_slice(&level);
        inside.extend_from_slice(&hex("00000002 6200 0000 ffffffff"));
        let offset = i32::try_from(inside.len() - at).unwrap();
        inside.extend_from_slice(&(-offset).to_be_bytes());
        level = hex("0000000f");
        level.extend_from_slice(&u32::try_from(inside.len()).unwrap().to_be_bytes());
        level.extend_from_slice(&inside);
    }
    let ty = decode::<BigEndian>(&level);
    let again = decode::<BigEndian>(&level);
    assert_eq!(ty, again);
    assert!(ty.equivalent(&again));
    assert!(encode::<BigEndian>(&ty).len() <= level.len());
    assert!(format!("{ty:?}").len() < 1 << 20);
}

#[test]
fn a_stand_in_cannot_be_sent_alone() {
    let mut e = Encoder::<BigEndian>::new(modern());
    assert!(e.put(&TypeCode::recursive("IDL:N:1.0")).is_err());
}

#[test]
fn equal_sees_names_and_aliases_and_equivalent_does_not() {
    let long = kind(TcKind::Long);
    let alias = TypeCode::alias("IDL:L:1.0", "L", &long);
    assert_ne!(alias, long);
    assert!(alias.equivalent(&long));
    assert_eq!(alias.unaliased(), long);

    let named = |id: &str, member: &str| TypeCode::structure(id, "S", &[(member, long.clone())]);
    assert_ne!(named("IDL:S:1.0", "a"), named("IDL:S:1.0", "b"));
    assert!(named("IDL:S:1.0", "a").equivalent(&named("IDL:S:1.0", "b")));
    assert!(!named("IDL:S:1.0", "a").equivalent(&named("IDL:T:1.0", "a")));
    // Without an id on both sides the structure decides.
    assert!(named("", "a").equivalent(&named("IDL:T:1.0", "b")));
    assert!(!named("", "a").equivalent(&point()));
    assert!(!TypeCode::string(3).equivalent(&TypeCode::string(4)));
    assert!(!TypeCode::fixed(4, 2).equivalent(&TypeCode::fixed(4, 1)));
    assert_eq!(node(), node());
}

#[test]
fn types_look_like_idl() {
    let sequence = TypeCode::sequence(
        &TypeCode::interface("IDL:acme.com/Bank/Account:1.0", "Account"),
        5,
    );
    let grid = TypeCode::array(&TypeCode::array(&kind(TcKind::Double), 3), 2);
    let union = TypeCode::union(
        "IDL:M/U:1.0",
        "U",
        &TypeCode::enumeration("IDL:M/E:1.0", "E", &["red", "blue"]),
        &[(Some(1), "x", sequence.clone()), (None, "y", grid.clone())],
    )
    .unwrap();
    for (ty, short, long) in [
        (
            kind(TcKind::ULongLong),
            "unsigned long long",
            "unsigned long long",
        ),
        (TypeCode::string(8), "string<8>", "string<8>"),
        (
            sequence,
            "sequence<Bank::Account, 5>",
            "sequence<Bank::Account, 5>",
        ),
        (grid, "double[2][3]", "double[2][3]"),
        (
            union,
            "M::U",
            "union M::U switch (M::E) { case blue: sequence<Bank::Account, 5> x; default: double[2][3] y; }",
        ),
        (node(), "N", "struct N { sequence<N> c; }"),
        (
            TypeCode::alias("IDL:M/Cost:1.0", "Cost", &TypeCode::fixed(9, 2)),
            "M::Cost",
            "typedef fixed<9, 2> M::Cost",
        ),
        (
            TypeCode::structure("", "", &[("", kind(TcKind::Boolean))]),
            "struct { boolean; }",
            "struct { boolean; }",
        ),
        (
            TypeCode::enumeration("IDL:M/E:1.0", "E", &["red", "blue"]),
            "M::E",
            "enum M::E { red, blue }",
        ),
    ] {
        assert_eq!(ty.to_string(), short);
        assert_eq!(format!("{ty:#}"), long);
        assert_eq!(format!("{ty:?}"), format!("TypeCode({long})"));
    }
}

#[test]
fn accessors_are_none_where_a_kind_has_nothing_of_that_sort() {
    let long = kind(TcKind::Long);
    assert_eq!((long.id(), long.name(), long.length()), (None, None, None));
    assert_eq!((long.member_count(), long.member_name(0)), (0, None));
    assert!(long.content_type().is_none() && long.discriminator_type().is_none());
    assert_eq!(point().id(), Some("IDL:P:1.0"));
    assert_eq!(point().member_name(1), Some("s"));
    assert_eq!(point().member_type(1).and_then(|ty| ty.length()), Some(3));
    assert_eq!(point().member_label(0), None);
    assert_eq!(TypeCode::fixed(5, 2).digits_and_scale(), Some((5, 2)));
}

mod random {
    use super::{decode, encode, kind};
    use proptest::{collection::vec, prelude::*};
    use zorb_cdr::{BigEndian, Decoder, LittleEndian, TcKind, TypeCode, WireFormat};

    fn leaf() -> impl Strategy<Value = TypeCode> {
        prop_oneof![
            (0_u32..37).prop_map(|number| {
                let simple = TcKind::from_number(number).and_then(TypeCode::of_kind);
                simple.unwrap_or_else(|| kind(TcKind::Any))
            }),
            any::<u32>().prop_map(TypeCode::string),
            any::<u32>().prop_map(TypeCode::wstring),
            (1_u16..=31, any::<i16>()).prop_map(|(d, s)| TypeCode::fixed(d, s)),
            "[A-Za-z:/äö]{0,9}".prop_map(|id| TypeCode::interface(&id, "I")),
            vec("[a-z]{0,5}", 0..4).prop_map(|names| {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                TypeCode::enumeration("IDL:E:1.0", "E", &names)
            }),
            Just(TypeCode::recursive("IDL:S:1.0")),
        ]
    }

    /// Types in which nothing stands for what it is not inside of.
    fn types() -> impl Strategy<Value = TypeCode> {
        let inside = leaf().prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                (inner.clone(), any::<u32>()).prop_map(|(ty, n)| TypeCode::sequence(&ty, n)),
                (inner.clone(), any::<u32>()).prop_map(|(ty, n)| TypeCode::array(&ty, n)),
                inner
                    .clone()
                    .prop_map(|ty| TypeCode::alias("IDL:A:1.0", "A", &ty)),
                inner
                    .clone()
                    .prop_map(|ty| TypeCode::value_box("IDL:B:1.0", "B", &ty)),
                (vec(inner.clone(), 0..4), any::<bool>()).prop_map(|(types, is_struct)| {
                    let members: Vec<_> = types.into_iter().map(|ty| ("m", ty)).collect();
                    if is_struct {
                        TypeCode::structure("IDL:S:1.0", "S", &members)
                    } else {
                        TypeCode::exception("", "X", &members)
                    }
                }),
                (vec((any::<i16>(), inner), 0..4), 0_usize..5).prop_map(|(types, default)| {
                    let members: Vec<_> = types
                        .into_iter()
                        .enumerate()
                        .map(|(n, (label, ty))| ((n != default).then_some(label.into()), "m", ty))
                        .collect();
                    TypeCode::union("IDL:U:1.0", "U", &kind(TcKind::Short), &members).unwrap()
                }),
            ]
        });
        inside.prop_map(|ty| TypeCode::structure("IDL:S:1.0", "S", &[("m", ty)]))
    }

    proptest! {
        #[test]
        fn whatever_is_written_reads_back(ty in types()) {
            prop_assert_eq!(&decode::<BigEndian>(&encode::<BigEndian>(&ty)), &ty);
            let little = encode::<LittleEndian>(&ty);
            let again = decode::<LittleEndian>(&little);
            prop_assert_eq!(&again, &ty);
            prop_assert!(again.equivalent(&ty));
            prop_assert_eq!(format!("{:?}", again), format!("{:?}", ty));
            prop_assert_eq!(encode::<LittleEndian>(&again), little);
        }

        #[test]
        fn an_octet_that_is_changed_is_an_error_or_another_type(
            ty in types(),
            changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut octets = encode::<BigEndian>(&ty);
            for (at, octet) in changes {
                let at = at.index(octets.len());
                octets[at] = octet;
            }
            let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
            if let Ok(ty) = d.get::<TypeCode>() {
                let _ = (format!("{ty} {ty:#}"), ty == ty.unaliased());
                for index in 0..ty.member_count() {
                    let _ = ty.member_type(index).map(|ty| format!("{ty:?}"));
                }
            }
        }
    }
}

#[test]
fn an_alias_of_a_sequence_of_a_struct_with_members_of_that_alias_is_read_again() {
    use zorb_cdr::{TypeCodeSet, TypeDefinition};
    let mut set = TypeCodeSet::new();
    let slots = [(); 3].map(|()| set.slot());
    let [node, nodes, sequence] = slots;
    let members = [("kids", nodes), ("more", nodes)];
    set.define(
        node,
        "IDL:Node:1.0",
        "Node",
        &TypeDefinition::Struct(&members),
    );
    set.define(
        nodes,
        "IDL:Nodes:1.0",
        "Nodes",
        &TypeDefinition::Alias(sequence),
    );
    set.define(sequence, "", "", &TypeDefinition::Sequence(node, 0));
    for ty in set.finish().unwrap() {
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&ty).unwrap();
        let octets = e.finish().to_vec();
        let mut d = Decoder::<NativeEndian>::from_slice(&octets, WireFormat::default());
        assert_eq!(d.get::<TypeCode>().as_ref(), Ok(&ty), "{ty:?}");
    }
}

#[test]
fn a_type_that_consists_of_itself_alone_is_none() {
    use zorb_cdr::{TypeCodeSet, TypeDefinition};
    let mut set = TypeCodeSet::new();
    let (one, other) = (set.slot(), set.slot());
    set.define(one, "IDL:A:1.0", "A", &TypeDefinition::Alias(other));
    set.define(other, "", "", &TypeDefinition::Sequence(one, 0));
    assert!(set.finish().is_none());
    let mut set = TypeCodeSet::new();
    let (union, text) = (set.slot(), set.slot());
    set.define(text, "", "", &TypeDefinition::String(0));
    set.define(union, "IDL:U:1.0", "U", &TypeDefinition::Union(text, &[]));
    assert!(set.finish().is_none());
}
