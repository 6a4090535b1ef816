//! Tags, repository ids, and values that come again.

use crate::values::support::*;
use std::sync::Arc;
use zorb_cdr::BigEndian;

#[test]
fn a_value_is_tag_repository_id_and_state() {
    let octets = [
        0x7f, 0xff, 0xff, 0x02, 0, 0, 0, 10, b'I', b'D', b'L', b':', b'N', b':', b'1', b'.', b'0',
        0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 9,
    ];
    let items = [L(0x7fff_ff02), S(N), L(7), L(0), O(9)];
    assert_eq!(wire_of::<BigEndian>(&items), octets);
    both(&items, 1, |values| {
        let state = state(values[0].as_ref().unwrap());
        assert_eq!((state.x, state.tail), (7, 9));
        assert!(state.next.is_none());
    });
}

#[test]
fn null_is_zero() {
    both(&[L(0), L(0)], 2, |values| {
        assert!(values.iter().all(Option::is_none))
    });
}

#[test]
fn a_value_without_type_information_is_of_the_expected_type() {
    reads(&[L(0x7fff_ff00), L(7), L(0), O(9)], 1, |values| {
        assert_eq!(x(&values[0]), 7)
    });
}

#[test]
fn a_codebase_is_read_over_and_may_be_an_indirection() {
    let items = [
        L(0x7fff_ff01),
        Mark('c'),
        S("file:///x"),
        L(7),
        L(0),
        O(9),
        L(0x7fff_ff01),
        L(0xffff_ffff),
        To('c'),
        L(8),
        L(0),
        O(1),
    ];
    reads(&items, 2, |values| {
        assert_eq!((x(&values[0]), x(&values[1])), (7, 8))
    });
}

#[test]
fn a_value_that_comes_again_is_the_same() {
    let items = [
        Mark('a'),
        L(0x7fff_ff02),
        S(N),
        L(7),
        L(0),
        O(9),
        L(0xffff_ffff),
        To('a'),
    ];
    assert_eq!(
        wire_of::<BigEndian>(&items)[32..],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xdc]
    );
    both(&items, 2, |values| {
        assert!(Arc::ptr_eq(
            values[0].as_ref().unwrap(),
            values[1].as_ref().unwrap()
        ));
    });
}

#[test]
fn a_value_may_contain_itself() {
    let items = [
        Mark('a'),
        L(0x7fff_ff02),
        S(N),
        L(7),
        L(0xffff_ffff),
        To('a'),
        O(9),
    ];
    both(&items, 1, |values| {
        let value = values[0].as_ref().unwrap();
        let next = state(value).next.unwrap();
        assert!(Arc::ptr_eq(value, &next));
    });
}

#[test]
fn a_repository_id_is_written_once() {
    let items = [
        L(0x7fff_ff02),
        Mark('i'),
        S(N),
        L(1),
        L(0x7fff_ff02),
        L(0xffff_ffff),
        To('i'),
        L(2),
        L(0),
        O(8),
        O(9),
    ];
    both(&items, 1, |values| {
        let outer = state(values[0].as_ref().unwrap());
        assert_eq!((outer.x, x(&outer.next), outer.tail), (1, 2, 9));
    });
}
