//! Unions, recursive and anonymous types, numbers.

use super::World;
use crate::digest::{Value, digest};
use crate::rich::rich_idl::rich::{Huge, Plainly, Price};
use crate::rich::rich_samples::{
    SUITS, bill, by_big, by_boolean, by_char, by_long, by_longlong, by_own, by_short, by_suit,
    by_truth, by_ulong, by_ushort, chain, cuboid, deep_tree, expr, plainly, tree,
};
use std::sync::Arc;
use zorb::Context;

/// Calls an echo and checks what comes back.
macro_rules! echo {
    ($world:ident.$operation:ident($a:expr, $b:expr)) => {
        match ($a, $b) {
            (a, b) => {
                let (result, inout, out) = $world
                    .peer
                    .$operation(a, b, digest!(a, b))
                    .await
                    .expect(stringify!($operation));
                assert_eq!(result, a.twisted(), "{}: result", stringify!($operation));
                assert_eq!(inout, a.to_owned(), "{}: inout", stringify!($operation));
                assert_eq!(out, b.to_owned(), "{}: out", stringify!($operation));
            }
        }
    };
}

pub(super) async fn unions(w: Arc<World>) {
    for d in [1, -7, 100, 0] {
        echo!(w.echo_by_long(&by_long(d, 7), &by_long(100, 8)));
    }
    for d in [-3, 300] {
        echo!(w.echo_by_short(&by_short(d, 5), &by_short(300, 3)));
    }
    for d in [7, 32767, 0] {
        echo!(w.echo_by_ushort(&by_ushort(d, 9), &by_ushort(7, 4)));
    }
    echo!(w.echo_by_ulong(&by_ulong(0, 11), &by_ulong(0, 12)));
    for d in [0, 5, 6] {
        echo!(w.echo_by_big(&by_big(d, 13), &by_big(5, 14)));
    }
    for d in [-5, 0] {
        echo!(w.echo_by_longlong(&by_longlong(d, 15), &by_longlong(-5, 16)));
    }
    for d in *b"azZ" {
        echo!(w.echo_by_char(&by_char(d, 17), &by_char(b'Z', 18)));
    }
    for d in [true, false] {
        echo!(w.echo_by_boolean(&by_boolean(d, 19), &by_boolean(!d, 20)));
        echo!(w.echo_by_truth(&by_truth(d, 21), &by_truth(!d, 22)));
        echo!(w.echo_by_own(&by_own(d, 23), &by_own(!d, 24)));
    }
    for d in SUITS {
        echo!(w.echo_by_suit(&by_suit(d, 25), &by_suit(SUITS[2], 26)));
    }
}

/// Default members, and unions without a member, keep the discriminator that they came with.
pub(super) async fn union_defaults(w: Arc<World>) {
    for d in [0, 4, i16::MIN] {
        echo!(w.echo_by_short(&by_short(d, 5), &by_short(300, 3)));
    }
    echo!(w.echo_by_ulong(&by_ulong(1, 11), &by_ulong(0, 12)));
    echo!(w.echo_by_char(&by_char(b'b', 17), &by_char(b'Z', 18)));
    for d in [2, -1, i32::MAX] {
        echo!(w.echo_by_long(&by_long(d, 7), &by_long(d ^ 8, 8)));
    }
    for d in [1, u16::MAX] {
        echo!(w.echo_by_ushort(&by_ushort(d, 9), &by_ushort(3, 4)));
    }
    for d in [5_000_000_000, i64::MIN] {
        echo!(w.echo_by_longlong(&by_longlong(d, 15), &by_longlong(d + 1, 16)));
    }
    for n in 0..12 {
        let sample = |n| crate::rich::rich_samples::unions(n, false, true);
        echo!(w.echo_unions(&sample(n), &sample(n + 1)));
    }
}

pub(super) async fn big_labels(w: Arc<World>) {
    for d in [0xfedc_ba98, u32::MAX] {
        echo!(w.echo_by_ulong(&by_ulong(d, 11), &by_ulong(0, 12)));
    }
    for d in [0xfedc_ba98_7654_3210, u64::MAX] {
        echo!(w.echo_by_big(&by_big(d, 13), &by_big(5, 14)));
    }
    for n in 0..12 {
        let sample = |n| crate::rich::rich_samples::unions(n, true, false);
        echo!(w.echo_unions(&sample(n), &sample(n + 1)));
    }
}

pub(super) async fn unions_together(w: Arc<World>) {
    for n in 0..12 {
        let sample = |n| crate::rich::rich_samples::unions(n, false, false);
        echo!(w.echo_unions(&sample(n), &sample(n + 1)));
    }
}

pub(super) async fn recursive(w: Arc<World>) {
    echo!(w.echo_tree(&tree(3), &deep_tree(0)));
    echo!(w.echo_tree(&deep_tree(20), &tree(4)));
    echo!(w.echo_expr(&expr(3), &expr(-4)));
    echo!(w.echo_chain(&chain(12), &chain(0)));
}

pub(super) async fn anonymous(w: Arc<World>) {
    let none = Plainly {
        grid: Vec::new(),
        tag: String::new(),
        cube: [[0; 3]; 2],
        wide: String::new(),
        tags: Vec::new(),
        named: cuboid(0),
        last: 0,
    };
    echo!(w.echo_plainly(&plainly(3), &none));
    echo!(w.echo_plainly(&none, &plainly(-3)));
}

pub(super) async fn fixed(w: Arc<World>) {
    let price = |text: &str| text.parse::<Price>().expect("a price");
    for text in [
        "0", "1", "-1", "123.45", "-999.99", "999.99", "0.01", "-0.01", "10",
    ] {
        echo!(w.echo_price(price(text), price("1.25")));
    }
    let huge = |text: &str| text.parse::<Huge>().expect("a huge number");
    for text in [
        "0",
        "-1",
        "123456789012345678901.0123456789",
        "-999999999999999999999.9999999999",
        "0.0000000001",
        "1000000000000",
    ] {
        echo!(w.echo_huge(huge(text), huge("-1.5")));
    }
    for n in [0, 7, 1234] {
        echo!(w.echo_bill(&bill(n), &bill(n + 1)));
    }
    let vat = w.peer.the_vat().await.expect("the_vat");
    assert_eq!(vat.to_string(), "19.50");
}

/// Only what the patterns of the IDL name travels.
pub(super) async fn context(w: Arc<World>) {
    let context: Context = [
        ("user", "me"),
        ("zorb.one", "1"),
        ("zorb.two", "2 and"),
        ("zorbs", "not sent"),
        ("users", "not sent"),
    ]
    .into_iter()
    .collect();
    let said = w.peer.in_context("hello", &context).await;
    let said = said.expect("in_context");
    assert_eq!(said, "hello,user=me,zorb.one=1,zorb.two=2 and");
}
