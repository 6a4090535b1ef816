//! Traits of generated types: those that they always have, and those that the option `derive` adds.

use std::collections::HashMap;
use zorb::{Any, ObjectRef, Orb};

zorb::idl! {
    #![idl(derive(Eq, Hash, Default, "Derived::Pair" = Copy, "Derived::Pair" = "PartialOrd"))]
    module Derived {
        enum Colour { RED, deep_blue };
        struct Pair { long first; Colour second; };
        union Choice switch (long) { case 3: case 4: string words; default: Pair both; };
        struct Holder { Choice what; any value; sequence<octet> raw; Object thing; fixed<5, 2> price; };
        exception Refused { Pair why; };
    };
}
use derived::{Choice, Colour, Holder, Pair, Refused};

#[test]
fn enums_list_their_enumerators_and_are_shown_and_parsed_by_their_names_in_idl() {
    assert_eq!(Colour::ALL, [Colour::Red, Colour::DeepBlue]);
    for colour in Colour::ALL {
        assert_eq!(colour.to_string().parse(), Ok(*colour));
    }
    assert_eq!(format!("{:>10}|", Colour::DeepBlue), " deep_blue|");
    let error = "Red".parse::<Colour>().unwrap_err().to_string();
    assert_eq!(error, "expected an enumerator of Colour, found \"Red\"");
}

#[expect(
    clippy::mutable_key_type,
    reason = "references are compared by what they refer to, which does not change"
)]
#[test]
fn types_have_the_traits_that_the_option_names() {
    let pair = Pair::default();
    let copied = pair;
    assert_eq!((pair, pair.second), (copied, Colour::Red));
    assert!(Pair { first: -1, ..pair } < pair);
    let choice = Choice::default();
    assert_eq!(choice.discriminator(), 3);
    let mut seen = HashMap::from([(choice, 1)]);
    let both = Choice::Both {
        discriminator: 0,
        value: pair,
    };
    assert_eq!(seen.insert(both.clone(), 2), None);
    assert_eq!(seen.get(&both), Some(&2));
    let holder = Holder {
        value: Any::new(&7).unwrap(),
        ..Holder::default()
    };
    let mut holders = HashMap::from([(holder.clone(), 1)]);
    assert_eq!(holders.insert(holder, 2), Some(1));
    assert_eq!(Refused::default(), Refused { why: pair });
}

#[expect(
    clippy::mutable_key_type,
    reason = "references are compared by what they refer to, which does not change"
)]
#[tokio::test]
async fn references_are_keys_by_what_they_refer_to() {
    let orb = Orb::builder().build().await.unwrap();
    let object = async |url: &str| -> ObjectRef { orb.string_to_object(url).await.unwrap() };
    let one = object("corbaloc:iiop:1.2@127.0.0.1:1/Bank").await;
    let same = object("corbaloc::127.0.0.1:1/Bank").await;
    let other = object("corbaloc::127.0.0.1:2/Bank").await;
    let mut seen = HashMap::from([(one, 1)]);
    assert_eq!(seen.insert(same, 2), Some(1));
    assert_eq!(seen.insert(other, 3), None);
}
