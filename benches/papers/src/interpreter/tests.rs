//! Every step writes and reads what zorb-cdr does.

use super::*;
use crate::interpreter::types::Kind;
use proptest::prelude::*;
use zorb_cdr::{Any, Encoder, NativeEndian, TypeCode, WireFormat, cdr_struct};

#[derive(Clone, Debug)]
struct Named {
    flag: bool,
    name: String,
    numbers: Vec<i16>,
    when: u64,
}
cdr_struct!(Named { flag: bool, name: String, numbers: Vec<i16>, when: u64 });

fn named() -> TypeCode {
    let of = |kind| TypeCode::of_kind(kind).unwrap();
    TypeCode::structure(
        "IDL:Named:1.0",
        "Named",
        &[
            ("flag", of(zorb_cdr::TcKind::Boolean)),
            ("name", TypeCode::string(0)),
            (
                "numbers",
                TypeCode::sequence(&of(zorb_cdr::TcKind::Short), 0),
            ),
            ("when", of(zorb_cdr::TcKind::ULongLong)),
        ],
    )
}

fn there_and_back<const S: u8>(ty: &Type, octets: &[u8]) {
    let mut memory = decode::<S>(ty, octets).unwrap();
    let before = memory.clone();
    let again = encode::<S>(ty, &mut memory, vec![0xff; 3]).unwrap();
    assert_eq!(again, octets, "step {S}");
    assert_eq!(memory, before, "step {S} leaves what it writes as it was");
    for end in 0..octets.len() {
        assert_eq!(decode::<S>(ty, &octets[..end]).err(), Some(Malformed));
    }
    assert_eq!(memory, decode::<0>(ty, octets).unwrap(), "step {S}");
    free::<S>(ty, memory);
}

proptest! {
    #[test]
    fn every_step_writes_the_octets_of_zorb_cdr_and_reads_them(
        values in proptest::collection::vec(
            (any::<bool>(), "[a-z]{0,9}", proptest::collection::vec(any::<i16>(), 0..5), any::<u64>()),
            0..6,
        ),
    ) {
        let values: Vec<Named> = values
            .into_iter()
            .map(|(flag, name, numbers, when)| Named { flag, name, numbers, when })
            .collect();
        let mut e = Encoder::<NativeEndian>::new(WireFormat::default());
        e.put(&values).unwrap();
        let octets = e.finish().to_vec();
        let ty = Type::of(&TypeCode::sequence(&named(), 0)).unwrap();
        there_and_back::<0>(&ty, &octets);
        there_and_back::<INLINED>(&ty, &octets);
        there_and_back::<SPECIALISED>(&ty, &octets);
        there_and_back::<NO_WASTE>(&ty, &octets);
        there_and_back::<PRECOMPUTED>(&ty, &octets);
        there_and_back::<PASSED>(&ty, &octets);
        there_and_back::<SPLIT>(&ty, &octets);
    }
}

#[test]
fn a_type_that_the_engine_does_not_know_is_refused() {
    let any = Any::new(&7_i32).unwrap();
    assert_eq!(Type::of(any.type_code()).unwrap().kind(), Kind::Long);
    let unknown = TypeCode::of_kind(zorb_cdr::TcKind::Any).unwrap();
    assert!(Type::of(&unknown).is_err());
}
