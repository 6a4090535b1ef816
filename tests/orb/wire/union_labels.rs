//! The label of a union's default in TypeCodes, as other ORBs write it.

use zorb::{TcKind, TypeCode};
use zorb_cdr::{BigEndian, ByteOrder, Decoder, DefaultLabels, Encoder, LittleEndian, WireFormat};

/// The names and octets of a recording.
fn recorded(text: &str) -> Vec<(&str, Vec<u8>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, hex) = line.split_once(' ').unwrap();
            let octet = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (name, (0..hex.len()).step_by(2).map(octet).collect())
        })
        .collect()
}

fn read<O: ByteOrder>(octets: &[u8]) -> TypeCode {
    let mut d = Decoder::<O>::from_slice(octets, WireFormat::default());
    let ty = d.get().unwrap();
    assert_eq!(d.remaining(), 0);
    ty
}

fn written<O: ByteOrder>(ty: &TypeCode, default_labels: DefaultLabels) -> Vec<u8> {
    let mut e = Encoder::<O>::new(WireFormat {
        default_labels,
        ..WireFormat::default()
    });
    e.put(ty).unwrap();
    e.finish().to_vec()
}

const OMNIORB: &str = include_str!("../../wire/omniorb-4.2.5-union-type-codes.txt");
const JACORB: &str = include_str!("../../wire/jacorb-3.9-union-type-codes.txt");

#[test]
fn unions_with_a_default_are_read_from_either_and_written_in_the_form_that_each_reads() {
    let (omniorb, jacorb) = (recorded(OMNIORB), recorded(JACORB));
    assert_eq!((omniorb.len(), jacorb.len()), (36, 36));
    let mut differ = 0;
    for ((name, wide), (same, narrow)) in omniorb.into_iter().zip(jacorb) {
        assert_eq!(name, same);
        let ty = read::<LittleEndian>(&wide);
        assert_eq!((ty.kind(), ty.member_count()), (TcKind::Union, 2), "{name}");
        assert_eq!(read::<BigEndian>(&narrow), ty, "{name}");
        // omniORB does not clear padding, so its octets are compared by what they mean.
        let ours = written::<LittleEndian>(&ty, DefaultLabels::Discriminator);
        assert_eq!(ours.len(), wide.len(), "{name}");
        assert_eq!(read::<LittleEndian>(&ours), ty, "{name}");
        assert_eq!(
            written::<BigEndian>(&ty, DefaultLabels::Octet),
            narrow,
            "{name}"
        );
        differ += usize::from(wide.len() != narrow.len());
    }
    assert!(differ > 8, "only {differ} differ");
}
