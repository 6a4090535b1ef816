//! Values.

use super::World;
use crate::rich::hidden::Hidden;
use crate::rich::rich_idl::rich::{
    Account, AccountOperations as _, Base, Boxes, DescribableRef, Empty, Holder, ListBox, LongBox,
    MaybePlain, Note, Plain, PointBox, Rectangle, ShapeOperations as _, Special, Spoilt, Square,
    Suit, TextBox, UnionBox, WideBox, values::SpoilError,
};
use crate::rich::rich_samples::{by_long, point};
use crate::rich::server::{described, thing};
use crate::rich::values::{
    a_base, derived, digest_of_one, digest_of_two, holder, longer, longest, made_base, plain, ring,
    twisted,
};
use std::sync::Arc;
use zorb::{Abstract, Value, ValueBase};

const BASE: &str = "IDL:zorb.test/Rich/Base:1.0";

/// Calls an echo and checks what comes back.
macro_rules! echo {
    ($world:ident.$operation:ident(&$a:expr, &$b:expr)) => {{
        let (a, b) = ($a, $b);
        let check = digest_of_two(&a, &b);
        let (result, inout, out) = $world
            .peer
            .$operation(&a, &b, check)
            .await
            .expect(stringify!($operation));
        echo!(checked $operation, a, b, result, inout, out);
    }};
    ($world:ident.$operation:ident($a:expr, $b:expr)) => {{
        let (a, b) = ($a, $b);
        let check = digest_of_two(&a, &b);
        let (result, inout, out) = $world
            .peer
            .$operation(a.clone(), b.clone(), check)
            .await
            .expect(stringify!($operation));
        echo!(checked $operation, a, b, result, inout, out);
    }};
    (checked $operation:ident, $a:ident, $b:ident, $result:ident, $inout:ident, $out:ident) => {
        for (what, found, expected) in [
            ("result", &$result, &twisted(&$a)),
            ("inout", &$inout, &$a),
            ("out", &$out, &$b),
        ] {
            let operation = stringify!($operation);
            assert_eq!(digest_of_one(found), digest_of_one(expected), "{operation}: {what}");
        }
    };
}

pub(super) async fn values(w: Arc<World>) {
    echo!(w.echo_plain(Some(plain(1)), Some(plain(2))));
    echo!(w.echo_plain(Some(plain(1)), None));
    echo!(w.echo_plain(None, Some(plain(2))));
    let one = plain(3);
    echo!(w.echo_plain(Some(one.clone()), Some(one)));
    echo!(w.echo_empty(Some(Value::new(Empty {})), None));
    let none = Holder {
        g0: 0,
        first: None,
        g1: 0,
        second: None,
        maybe: MaybePlain::Unset,
        many: Vec::new(),
        at: point(0),
    };
    echo!(w.echo_holder(&holder(5), &none.clone()));
    echo!(w.echo_holder(&none, &holder(5)));
}

pub(super) async fn value_inheritance(w: Arc<World>) {
    let base = a_base(1, "base");
    let long = longest(6);
    long.write().base.inner = Some(derived(4, "derived", 1.5).upcast());
    let longer: Value<Base> = Value::new(longer(5, "longer", -1, Some(long.upcast()))).upcast();
    let other: Value<Base> = derived(2, "derived", 0.25).upcast();
    let longest: Value<Base> = long.upcast();
    for (a, b) in [
        (&base, &other),
        (&other, &base),
        (&longest, &base),
        (&base, &longer),
        (&longer, &longest), // which is inside longer
        (&longest, &longer),
    ] {
        echo!(w.echo_base(Some(a.clone()), Some(b.clone())));
    }
    long.write().base.inner = Some(longest.clone());
    echo!(w.echo_base(Some(longest.clone()), Some(longest.clone())));
    for it in [&base, &longest] {
        let kind = w.peer.kind_of(it).await.expect("kind_of");
        assert_eq!(kind, it.repository_id());
    }
    assert_eq!(w.peer.kind_of(None).await.expect("kind_of"), "");
    let made = w.peer.make_base(false).await.expect("make_base");
    assert_eq!(digest_of_one(&made), digest_of_one(&Some(made_base(false))));
    long.write().base.inner = None;
}

/// `Hidden` is known to no receiver, and what it has beyond a `Base` is skipped.
pub(super) async fn truncation(w: Arc<World>) {
    let kind = w.peer.kind_of(&made_base(true)).await.expect("kind_of");
    assert_eq!(kind, BASE);
    let got = w.peer.make_base(true).await.expect("make_base");
    let got = got.expect("not null");
    assert_eq!(got.repository_id(), BASE);
    assert_eq!((got.read().id, &*got.read().name), (7, "hidden"));

    // The second argument is inside what the server skips.
    let base = made_base(true);
    let hidden: Value<Hidden> = base.downcast().expect("it is");
    let inner = hidden.read().inner.clone();
    let (got, one) = w.peer.truncate(&base, inner).await.expect("truncate");
    assert!(!one);
    let skipped = Some(derived(8, "in", 0.5).upcast::<Base>());
    assert_eq!(digest_of_one(&got), digest_of_one(&skipped));

    let first = a_base(3, "first");
    hidden.write().inner = Some(first.clone());
    let (got, _) = w.peer.truncate(&first, &base).await.expect("truncate");
    assert_eq!(got.expect("not null").repository_id(), BASE);
    let (_, one) = w.peer.truncate(&base, &base).await.expect("truncate");
    assert!(one);
}

pub(super) async fn graphs(w: Arc<World>) {
    // Not more: above 87 values in a message omniORB's receiver mistakes one for another.
    for n in [1, 2, 3, 20] {
        let made = w.peer.make_ring(n).await.expect("make_ring");
        assert_eq!(digest_of_one(&made), digest_of_one(&ring(n)), "{n}");
        echo!(w.echo_node(ring(n), ring(n + 1)));
    }
    assert!(w.peer.make_ring(0).await.expect("make_ring").is_none());
    let (a, b) = (ring(2), ring(2));
    for (a, b, same) in [
        (&a, &a, true),
        (&a, &b, false),
        (&None, &None, true),
        (&None, &b, false),
    ] {
        let answer = w.peer.same(a.clone(), b.clone()).await.expect("same");
        assert_eq!(answer, same);
    }
    let second = a.as_ref().and_then(|node| node.read().next.clone());
    echo!(w.echo_node(a.clone(), second)); // two of one ring
    let both = vec![a.clone(), None, b, a];
    echo!(w.echo_nodes(&both.clone(), &Vec::new()));
    echo!(w.echo_nodes(&Vec::new(), &both));
}

/// Each value is in the one before it.
pub(super) async fn long_rings(w: Arc<World>) {
    for n in [500, 2000] {
        let made = w.peer.make_ring(n).await.expect("make_ring");
        assert_eq!(digest_of_one(&made), digest_of_one(&ring(n)), "{n}");
        echo!(w.echo_node(ring(n), ring(n + 1)));
    }
}

fn some_boxes() -> Boxes {
    let text = Value::new(TextBox {
        value: "boxed".to_owned(),
    });
    Boxes {
        number: Some(Value::new(LongBox { value: -5 })),
        text: Some(text.clone()),
        wide: Some(Value::new(WideBox {
            value: "\u{416}12".to_owned(),
        })),
        point: Some(Value::new(PointBox { value: point(3) })),
        list: Some(Value::new(ListBox {
            value: vec![0, 7, 14],
        })),
        union: Some(Value::new(UnionBox {
            value: by_long(-7, 4),
        })),
        again: Some(text),
    }
}

fn no_boxes() -> Boxes {
    Boxes {
        number: None,
        text: None,
        wide: None,
        point: None,
        list: None,
        union: None,
        again: None,
    }
}

/// Without wide text, which not every version has.
pub(super) async fn boxes(w: Arc<World>) {
    let some = || {
        Some(Value::new(Boxes {
            wide: None,
            ..some_boxes()
        }))
    };
    let none = || Some(Value::new(no_boxes()));
    echo!(w.echo_boxes(some(), none()));
    echo!(w.echo_boxes(none(), some()));
}

pub(super) async fn wide_boxes(w: Arc<World>) {
    let some = Some(Value::new(some_boxes()));
    echo!(w.echo_boxes(some.clone(), some));
}

pub(super) async fn boxes_alone(w: Arc<World>) {
    let text = Some(Value::new(TextBox {
        value: "boxed".to_owned(),
    }));
    echo!(w.echo_text(text.clone(), None));
    echo!(w.echo_text(text.clone(), text));
    let list = |value| Some(Value::new(ListBox { value }));
    echo!(w.echo_list(list(vec![0, 7, 14]), list(Vec::new())));
}

pub(super) async fn value_operations(w: Arc<World>) {
    let account = |owner: &str, balance| {
        Some(Value::new(Account {
            quiet_balance: balance,
            owner: owner.to_owned(),
        }))
    };
    let mine = account("me", 100);
    echo!(w.echo_account(mine.clone(), account("you", -5_000_000_000)));
    let (changed, balance) = w.peer.deposit(mine.clone(), 23).await.expect("deposit");
    let changed = changed.expect("not null").balance().expect("balance");
    assert_eq!((balance, changed), (123, 123));
    // It was a copy that was changed.
    let mine = mine.expect("not null").balance().expect("balance");
    assert_eq!(mine, 100);

    let square = Value::new(Square { side: 1.5 });
    assert_eq!(w.peer.area(&square).await.expect("area"), 2.25);
    let rectangle = Value::new(Rectangle {
        wide: 1.5,
        high: 3.0,
    });
    assert_eq!(w.peer.area(&rectangle).await.expect("area"), 4.5);
    assert_eq!(w.peer.area(None).await.expect("area"), 0.0);
    for (square, high, area) in [(true, 0.0, 9.0), (false, 0.5, 1.5)] {
        let made = w.peer.make_shape(square, 3.0, high).await;
        let mut made = made.expect("make_shape").expect("not null");
        assert_eq!(made.area().expect("area"), area);
    }
}

pub(super) async fn value_base(w: Arc<World>) {
    let square = Value::new(Square { side: 2.0 });
    for it in [
        Some(plain(5).upcast::<ValueBase>()),
        Some(longest(5).upcast()),
        ring(3).map(|node| node.upcast()),
        Some(square.upcast()),
        None,
    ] {
        let (back, kind) = w.peer.pass_value(it.clone()).await.expect("pass_value");
        let expected = it.as_ref().map_or("", |it| it.repository_id());
        assert_eq!(kind, expected);
        assert_eq!(digest_of_one(&back), digest_of_one(&it), "{kind}");
    }
}

/// Values that most ORBs accept as a ValueBase, and some do not.
pub(super) async fn boxes_as_value_base(w: Arc<World>) {
    let text = Value::new(TextBox {
        value: "any box".to_owned(),
    });
    let it = Some(text.upcast::<ValueBase>());
    let (back, kind) = w.peer.pass_value(it.clone()).await.expect("pass_value");
    assert_eq!(kind, text.repository_id());
    assert_eq!(digest_of_one(&back), digest_of_one(&it));
}

pub(super) async fn custom_values(w: Arc<World>) {
    let special = |n: i32| {
        Some(Value::new(Special {
            stamp: i64::from(n) << 33,
            text: format!("special {n}"),
            data: vec![1, 2, 3].into(),
            inner: (n > 0).then(|| plain(n)),
        }))
    };
    echo!(w.echo_special(special(1), special(0)));
    echo!(w.echo_special(None, special(2)));
    let one = special(3);
    echo!(w.echo_special(one.clone(), one));
}

type Described = Option<Abstract<DescribableRef>>;

pub(super) async fn abstract_interfaces(w: Arc<World>) {
    let pass = async |it: Described, says: &str, twin_says: &str| {
        let (back, text, twin) = w.peer.pass(it.clone()).await.expect("pass");
        assert_eq!(text, says);
        assert_eq!(described(back.as_ref()).await.expect("describe"), says);
        assert_eq!(described(twin.as_ref()).await.expect("describe"), twin_says);
        let is_object = |it: &Described| it.as_ref().map(|it| matches!(it, Abstract::Object(_)));
        assert_eq!(is_object(&back), is_object(&it));
        assert_eq!(is_object(&twin), is_object(&it).map(|object| !object));
    };
    let note = |text: &str| {
        let text = text.to_owned();
        Some(Abstract::Value(Value::new(Note { text }).upcast()))
    };
    pass(None, "nil", "nil").await;
    pass(note("to self"), "note to self", "thing to self").await;
    // It is called back.
    let mine = thing(&w.orb, "of mine").expect("it is served");
    let mine: Described = (&mine).into();
    pass(mine, "thing of mine", "note of mine").await;

    let theirs = w.peer.make_thing("of theirs").await.expect("make_thing");
    let theirs: Described = theirs.as_ref().and_then(|it| it.into());
    let one = note("one note");
    let all = [one.clone(), theirs, None, one];
    let (back, text) = w.peer.pass_all(&all).await.expect("pass_all");
    assert_eq!(text, "note one note,thing of theirs,nil,note one note");
    assert_eq!(back.len(), all.len());
    for (back, sent) in back.iter().zip(&all) {
        let says = described(back.as_ref()).await.expect("describe");
        assert_eq!(says, described(sent.as_ref()).await.expect("describe"));
    }
    let [
        Some(Abstract::Value(first)),
        _,
        _,
        Some(Abstract::Value(last)),
    ] = &back[..]
    else {
        panic!("the first and the last are values: {back:?}");
    };
    assert_eq!(first, last, "one value");
}

pub(super) async fn values_in_exceptions(w: Arc<World>) {
    let error = w.peer.spoil(17, "because").await.expect_err("it is raised");
    let SpoilError::Spoilt(Spoilt { what, why, same }) = error else {
        panic!("{error}");
    };
    assert_eq!(why, "because");
    assert_eq!(what, same);
    let expected = Value::new(Plain {
        number: 17,
        text: "spoilt".to_owned(),
        suit: Suit::Hearts,
    });
    assert_eq!(digest_of_one(&what), digest_of_one(&Some(expected)));
}
