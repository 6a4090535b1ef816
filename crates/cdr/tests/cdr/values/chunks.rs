//! Truncatable values and what is cut off of them.

use crate::common::modern;
use crate::values::support::*;
use std::sync::Arc;
use zorb_cdr::{BigEndian, Decoder, Encoder};

#[test]
fn a_truncatable_value_lists_its_types_and_is_in_chunks() {
    both(&derived(&[I(-1)]), 1, |values| {
        let outer = state(values[0].as_ref().unwrap());
        let (more, other) = outer.derived.unwrap();
        assert_eq!((outer.x, outer.tail, more), (1, 9, 0.5));
        assert_eq!((x(&outer.next), x(&other)), (2, 3));
    });
}

#[test]
fn every_value_may_have_an_end_tag_of_its_own() {
    reads(&derived(&[I(-2), I(-1), L(0)]), 2, |values| {
        let (_, other) = state(values[0].as_ref().unwrap()).derived.unwrap();
        assert_eq!(x(&other), 3);
        assert!(values[1].is_none());
    });
}

#[test]
fn a_value_of_an_unknown_type_is_cut_to_a_base_that_is_known() {
    reads(&truncated(&[L(0)]), 2, |values| {
        let state = state(values[0].as_ref().unwrap());
        assert_eq!((state.x, state.tail), (1, 5));
        assert!(values[1].is_none());
    });
}

#[test]
fn what_was_skipped_is_read_when_it_is_referred_to() {
    let items = truncated(&[
        L(0xffff_ffff),
        To('s'),
        L(0xffff_ffff),
        To('s'),
        L(0x7fff_ff00),
        L(3),
        L(0xffff_ffff),
        To('s'),
        O(1),
    ]);
    reads(&items, 4, |values| {
        assert_eq!(x(&values[1]), 4);
        assert!(Arc::ptr_eq(
            values[1].as_ref().unwrap(),
            values[2].as_ref().unwrap()
        ));
        let last = state(values[3].as_ref().unwrap()).next.unwrap();
        assert!(Arc::ptr_eq(values[1].as_ref().unwrap(), &last));
    });
}

#[test]
fn a_repository_id_may_be_an_indirection_into_what_was_skipped() {
    let items = truncated(&[
        L(0x7fff_ff02),
        L(0xffff_ffff),
        To('d'),
        L(3),
        L(0),
        O(1),
        F(0.25),
        L(0),
    ]);
    reads(&items, 2, |values| {
        assert_eq!(state(values[1].as_ref().unwrap()).derived.unwrap().0, 0.25);
    });
}

#[test]
fn state_may_be_cut_into_chunks_between_any_two_members() {
    let items = [L(0x7fff_ff08), L(4), L(7), L(4), L(0), L(1), O(9), I(-1)];
    reads(&items, 1, |values| {
        let state = state(values[0].as_ref().unwrap());
        assert_eq!((state.x, state.tail), (7, 9));
    });
    // Null may stand outside of chunks as well.
    let items = [L(0x7fff_ff08), L(4), L(7), L(0), L(1), O(9), I(-1)];
    reads(&items, 1, |values| {
        assert_eq!(state(values[0].as_ref().unwrap()).tail, 9)
    });
}

#[test]
fn text_octets_and_numbers_are_read_across_chunks_as_long_as_none_is_split() {
    let mut e = Encoder::<BigEndian>::new(modern());
    for long in [0x7fff_ff08, 12] {
        e.write_u32(long);
    }
    e.put(&vec![1_u32, 2]).unwrap();
    e.write_u32(7);
    e.write_str("a").unwrap();
    e.write_u8(0xee); // the unread rest of a chunk
    for long in [8, 3, 4, 8, 5, 6, 0xffff_ffff_u32] {
        e.write_u32(long);
    }
    let octets = e.finish().to_vec();
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    value(&mut d, |d| {
        assert_eq!(d.get::<Vec<u32>>()?, [1, 2]);
        assert_eq!(d.read_str()?, "a");
        assert_eq!(d.read_u8()?, 0xee);
        // A count in one chunk, its elements in two.
        assert_eq!(d.get::<Vec<u32>>()?, [4, 5, 6]);
        Ok(())
    })
    .unwrap();
    assert_eq!(d.remaining(), 0);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, modern());
    value(&mut d, |d| {
        d.take(4)?;
        // Octets are borrowed, so they have to be in one piece.
        assert!(d.take(9).is_err());
        Ok(())
    })
    .unwrap();
    assert_eq!(d.remaining(), 0);
}
