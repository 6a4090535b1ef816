//! The code of the macros does not depend on its surroundings.

#![deny(warnings)]

/// No prelude, and types with the names that are likeliest to clash.
#[no_implicit_prelude]
mod hostile {
    #[derive(::std::fmt::Debug, ::std::cmp::PartialEq)]
    pub(crate) struct O {
        pub(crate) encoder: u8,
        pub(crate) window: ::std::vec::Vec<Ordinal>,
    }
    ::zorb_cdr::cdr_struct!(O { encoder: u8, window: ::zorb_cdr::Seq<Ordinal> });

    #[derive(::std::fmt::Debug, ::std::cmp::PartialEq)]
    #[expect(clippy::upper_case_acronyms, reason = "IDL has such names")]
    pub(crate) enum Ordinal {
        Ok,
        Err,
        COUNT,
        None,
    }
    ::zorb_cdr::cdr_enum!(Ordinal {
        Ok,
        Err,
        COUNT,
        None
    });

    #[derive(::std::fmt::Debug, ::std::cmp::PartialEq)]
    pub(crate) struct Option {
        pub(crate) o: O,
        pub(crate) kind: [Ordinal; 2],
    }
    ::zorb_cdr::cdr_struct!(Option { o: O, kind: ::zorb_cdr::Array<Ordinal, 2> });

    #[derive(::std::fmt::Debug, ::std::cmp::PartialEq)]
    pub(crate) struct Result {}
    ::zorb_cdr::cdr_struct!(Result {});
}

use crate::common::{big, decode, modern};
use hostile::{O, Option, Ordinal, Result};
use zorb_cdr::{BigEndian, Decode};

#[test]
fn types_with_clashing_names_travel() {
    let value = Option {
        o: O {
            encoder: 1,
            window: vec![Ordinal::None],
        },
        kind: [Ordinal::COUNT, Ordinal::Err],
    };
    let octets = [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1];
    assert_eq!(big(&value), octets);
    assert_eq!(decode::<BigEndian, _>(&octets, modern()), Ok(value));
    assert_eq!(decode::<BigEndian, _>(&[0; 4], modern()), Ok(Ordinal::Ok));
}

#[test]
fn a_struct_without_members_takes_no_octets() {
    assert_eq!(big(&Result {}), []);
    assert_eq!(decode::<BigEndian, _>(&[], modern()), Ok(Result {}));
    assert_eq!(<Result as Decode>::MIN_SIZE, 0);
}

mod inner {
    #[derive(Debug, PartialEq)]
    pub(crate) enum Order {
        Last,
        First,
    }
}
// By path, and in another order than the declaration.
zorb_cdr::cdr_enum!(inner::Order { First, Last });

#[test]
fn ordinals_are_those_of_the_list() {
    assert_eq!(
        big(&[inner::Order::Last, inner::Order::First]),
        [0, 0, 0, 1, 0, 0, 0, 0]
    );
}
