//! Big-endian requests of ours, by a [`Caller`].

use crate::caller::Caller;
use crate::matrix::Talk;
use crate::peers::{Brand, Over, Way};
use crate::rich::rich_idl::rich::{Base, Boxes, Node};
use crate::rich::rich_jacorb::JACORB;
use crate::rich::rich_omniorb::OMNIORB;
use crate::rich::rich_samples::{bill, deep_tree, expr, tree, unions};
use crate::rich::values::{
    Graph, a_base, derived, digest_of_one, digest_of_two, holder, longest, plain, ring, twisted,
};
use crate::support::passed;
use zorb::__private::ValueCodec;
use zorb::{Value, ValueType};
use zorb_cdr::{ByteOrder, Codec, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// A value, or null, as a parameter.
struct AsValue<T>(Option<Value<T>>);

impl<T: ValueType> Encode for AsValue<T> {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        ValueCodec::encode(&self.0, e)
    }
}

impl<'de, T: ValueType> Decode<'de> for AsValue<T> {
    const MIN_SIZE: usize = <ValueCodec<T> as Codec>::MIN_SIZE;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        ValueCodec::decode(d).map(Self)
    }
}

/// Calls an echo of something with values in it, and checks what comes back.
fn echo<T, V: Graph>(caller: &mut Caller, operation: &str, a: &T, b: &T, values: fn(&T) -> &V)
where
    T: Encode + for<'de> Decode<'de>,
{
    let check = digest_of_two(values(a), values(b));
    let found = caller.ask(operation, a, b, check);
    for (what, found, expected) in [
        ("result", &found.0, &twisted(values(a))),
        ("inout", &found.1, values(a)),
        ("out", &found.2, values(b)),
    ] {
        let found = digest_of_one(values(found));
        assert_eq!(found, digest_of_one(expected), "{operation}: {what}");
    }
}

type Cell = (&'static str, fn(&mut Caller));

const DATA: [Cell; 3] = [
    ("unions_together", |caller| {
        for n in 0..12 {
            let sample = |n| unions(n, false, false);
            caller.echo("echo_unions", &sample(n), &sample(n + 1));
        }
    }),
    ("recursive", |caller| {
        caller.echo("echo_tree", &tree(3), &deep_tree(20));
        caller.echo("echo_expr", &expr(3), &expr(-4));
    }),
    ("fixed", |caller| {
        for n in [0, 7, 1234] {
            caller.echo("echo_bill", &bill(n), &bill(n + 1));
        }
    }),
];

const VALUES: [Cell; 3] = [
    ("values", |caller| {
        echo(caller, "echo_holder", &holder(5), &holder(6), |it| it);
        let one = || AsValue(Some(plain(3)));
        echo(caller, "echo_plain", &one(), &AsValue(None), |it| &it.0);
    }),
    ("value_inheritance", |caller| {
        let base = AsValue::<Base>(Some(a_base(1, "base")));
        let derived = derived(4, "derived", 1.5).upcast::<Base>();
        let long = longest(6);
        long.write().base.inner = Some(derived.clone());
        let longest = AsValue(Some(long.upcast::<Base>()));
        let derived = AsValue(Some(derived));
        for (a, b) in [(&base, &derived), (&longest, &base), (&derived, &longest)] {
            echo(caller, "echo_base", a, b, |it| &it.0);
        }
    }),
    ("graphs", |caller| {
        let ring = |n| AsValue::<Node>(ring(n));
        echo(caller, "echo_node", &ring(3), &ring(20), |it| &it.0);
        let boxes = || AsValue::<Boxes>(None);
        echo(caller, "echo_boxes", &boxes(), &boxes(), |it| &it.0);
    }),
];

fn check(brand: &'static Brand, giop: &'static str, cells: &[&[Cell]]) {
    let talk = Talk {
        setting: "rich",
        ..Talk::new(giop, Over::Tcp)
    };
    let prefix = talk.prefix(("zorb", "be"), (brand.name, brand.order));
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, talk.over, talk.args_of(brand));
    let (_server, reference) = way.start();
    let mut caller = Caller::to(&reference, brand.order);
    assert!(
        giop.ends_with(&caller.version.minor.to_string()),
        "{prefix}"
    );
    for (name, cell) in cells.iter().copied().flatten() {
        cell(&mut caller);
        passed(&format!("{prefix}/{name}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_big_endian_requests_are_understood_by_omniorb() {
    for giop in ["1.0", "1.1", "1.2"] {
        check(&OMNIORB, giop, &[&DATA, &VALUES]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_big_endian_requests_are_understood_by_jacorb() {
    check(&JACORB, "1.2", &[&DATA]);
}
