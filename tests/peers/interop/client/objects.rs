//! Cells about exceptions, references, inheritance and names.

use super::{World, raised};
use crate::interop::idl::interop::failures::FailError;
use crate::interop::idl::interop::families::MakeFamilyError;
use crate::interop::idl::interop::types::Suit;
use crate::interop::idl::interop::words::ForError;
use crate::interop::idl::interop::{
    Completion, DiamondRef, FailKind, LeftRef, Let, Loop, LoudNodeRef,
};
use crate::interop::idl::interop::{NamedNode, NodeRef, StrangerRef};
use crate::interop::idl::shapes::{Colour, Point};
use crate::interop::nodes::{host_node, host_relative, name_of, walk};
use crate::interop::rules::Value;
use crate::interop::samples::{Dice, Sample};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use zorb::{CompletionStatus, Interface, ObjectRef, SystemExceptionKind as Kind};

pub(super) async fn attributes(w: Arc<World>) {
    let p = &w.peer;
    let before = p.revision().await.unwrap();
    for v in [-5, 123_456] {
        p.set_number(v).await.unwrap();
        assert_eq!(p.number().await.unwrap(), v);
    }
    p.set_title("A title").await.unwrap();
    assert_eq!(p.title().await.unwrap(), "A title");
    for v in [true, false] {
        p.set_ready(v).await.unwrap();
        assert_eq!(p.ready().await.unwrap(), v);
    }
    let list = Dice(12).many(4, Sample::sample);
    p.set_list(&list).await.unwrap();
    assert_eq!(p.list().await.unwrap(), list);
    let place = Point { x: -3, y: 2.5 };
    p.set_where(&place).await.unwrap();
    assert_eq!(p.where_().await.unwrap(), place);
    let (mine, _) = host_node(&w.orb, "attribute", false);
    p.set_companion(&mine).await.unwrap();
    assert_eq!(p.companion().await.unwrap(), Some(mine));
    p.set_companion(None).await.unwrap();
    assert_eq!(p.companion().await.unwrap(), None);
    assert_eq!(p.revision().await.unwrap(), before + 9);
}

pub(super) async fn exceptions(w: Arc<World>) {
    for (code, text) in [(0, ""), (5, "Why Not"), (30000, "Why Not")] {
        let fail = |kind| w.peer.fail(kind, code, text);
        assert_eq!(fail(FailKind::FailNot).await, Ok(!code));
        assert!(matches!(
            fail(FailKind::FailEmpty).await,
            Err(FailError::Empty(_))
        ));
        let Err(FailError::Detailed(e)) = fail(FailKind::FailDetailed).await else {
            panic!("expected Detailed");
        };
        assert_eq!(e.level, code.to_le_bytes()[0]);
        assert_eq!(e.code, -1_000_003 * i64::from(code));
        assert_eq!(e.text, text.twisted());
        assert_eq!(
            (i32::from(e.where_.x), e.where_.y),
            (code, f64::from(code) / 2.0)
        );
        assert_eq!(e.trail, [code, code + 1, code + 2]);
        let quarter = usize::try_from(code % 4).unwrap();
        let suits = [Suit::Clubs, Suit::Diamonds, Suit::Hearts, Suit::Spades];
        assert_eq!((e.suit, e.last), (suits[quarter], true));
        let Err(FailError::Broken(e)) = fail(FailKind::FailBroken).await else {
            panic!("expected Broken");
        };
        let shades = [Colour::Red, Colour::Green, Colour::Blue, Colour::DeepPurple];
        assert_eq!((e.why.as_str(), e.shade), (text, shades[quarter]));
        let Err(FailError::Refused(e)) = fail(FailKind::FailRefused).await else {
            panic!("expected Refused");
        };
        assert_eq!(e.why, text);
        assert_eq!(name_of(e.by.as_ref()).await.unwrap(), "home");
    }
    match w.peer.make_family("Uncle").await {
        Err(MakeFamilyError::NoSuchKind(e)) => assert_eq!(e.kind, "Uncle"),
        other => panic!("expected NoSuchKind, found {other:?}"),
    }
}

const COMPLETIONS: [(Completion, CompletionStatus); 3] = [
    (Completion::CompletedYes, CompletionStatus::Yes),
    (Completion::CompletedNo, CompletionStatus::No),
    (Completion::CompletedMaybe, CompletionStatus::Maybe),
];

pub(super) async fn system_exceptions(w: Arc<World>) {
    // Those are for another cell, or unknown to omniORB.
    let elsewhere = |kind: &&Kind| RETRIED.contains(kind) || YOUNG.contains(kind);
    let kinds = Kind::ALL.iter().filter(|kind| !elsewhere(kind));
    let minors = || [0, 1, 0x4f4d_0001, u32::MAX].into_iter();
    let of_kind = |kind| COMPLETIONS.map(|completion| (kind, completion));
    let all = kinds.flat_map(of_kind);
    let all =
        all.flat_map(|(kind, completion)| minors().map(move |minor| (kind, completion, minor)));
    for (kind, (completion, status), minor) in all.step_by(w.one_in) {
        let outcome = w.peer.fail_system(kind.name(), minor, completion).await;
        assert_eq!(raised(outcome, *kind, status).minor, minor);
    }
    let unheard_of = w
        .peer
        .fail_system("NO_SUCH", 9, Completion::CompletedNo)
        .await;
    assert_eq!(raised(unheard_of, Kind::BadParam, None).minor, 1);
}

/// The exceptions that a client ORB may take as a reason to try again.
const RETRIED: [Kind; 3] = [Kind::Transient, Kind::CommFailure, Kind::ObjectNotExist];
/// The exceptions of CORBA 3 that omniORB does not have.
const YOUNG: [Kind; 4] = [
    Kind::ActivityCompleted,
    Kind::ActivityRequired,
    Kind::InvalidActivity,
    Kind::ThreadCancelled,
];

pub(super) async fn retried_exceptions(w: Arc<World>) {
    for kind in RETRIED {
        for (completion, status) in COMPLETIONS {
            let outcome = w.peer.fail_system(kind.name(), 3, completion).await;
            assert_eq!(raised(outcome, kind, status).minor, 3);
        }
    }
}

pub(super) async fn undeclared(w: Arc<World>) {
    for _ in 0..3 {
        raised(w.peer.fail_undeclared().await, Kind::Unknown, None);
        w.peer.nothing().await.unwrap();
    }
}

pub(super) async fn bad_operation(w: Arc<World>) {
    let peer = w.peer.as_object();
    let stranger: StrangerRef = peer.unchecked_narrow();
    raised(
        stranger.talk().await,
        Kind::BadOperation,
        CompletionStatus::No,
    );
    assert_eq!(peer.narrow::<StrangerRef>().await.unwrap(), None);
}

pub(super) async fn references(w: Arc<World>) {
    let p = &w.peer;
    let home = p.own_node().await.unwrap();
    assert_eq!(name_of(home.as_ref()).await.unwrap(), "home");
    let a = Some(host_node(&w.orb, "a", false).0);
    let b = Some(host_node(&w.orb, "b", true).0);
    let name = async |node: &Option<NodeRef>| name_of(node.as_ref()).await.unwrap();

    for (x, y) in [
        (&a, &b),
        (&b, &None),
        (&None, &a),
        (&None, &None),
        (&home, &a),
    ] {
        let (result, inout, out, names) = p.pass_node(x.clone(), y.clone()).await.unwrap();
        assert_eq!(names, format!("{},{}", name(x).await, name(y).await));
        assert_eq!(name(&result).await, "home");
        assert_eq!((&inout, &out), (x, y));
    }

    for n in 0..5 {
        let list: Vec<_> = [&a, &b, &None, &b, &a][..n]
            .iter()
            .map(|&x| x.clone())
            .collect();
        let (turned, names) = p.turn(&list).await.unwrap();
        assert_eq!(names, ["a", "b", "-", "b", "a"][..n].join(","));
        let mut expected = list;
        expected.rotate_left(usize::from(n > 0));
        assert_eq!(turned, expected);
    }

    let named = |pad, ref_: &Option<NodeRef>, label: &str| NamedNode {
        pad,
        ref_: ref_.clone(),
        label: label.to_owned(),
    };
    let (left, right) = (named(0x0f, &a, "left"), named(0x33, &None, "right"));
    for (x, y, label) in [(&left, &right, "a:left"), (&right, &left, "-:right")] {
        let (result, inout, out) = p.pass_named(x, y).await.unwrap();
        assert_eq!(result, named(!x.pad, &y.ref_, label));
        assert_eq!((&inout, &out), (x, y));
    }

    let object = |node: &Option<NodeRef>| node.as_ref().map(|node| node.as_object().clone());
    let base = host_relative(&w.orb, "Base").unwrap().map(ObjectRef::from);
    let peer = Some(p.as_object().clone());
    for (x, y, expected) in [
        (object(&a), object(&b), "Node,LoudNode"),
        (peer, base, "Peer,other"),
        (None, object(&a), "nil,Node"),
        (object(&b), None, "LoudNode,nil"),
    ] {
        let (result, inout, out, kinds) = p.pass_object(x.clone(), y.clone()).await.unwrap();
        assert_eq!(kinds, expected);
        assert_eq!((result, inout, out), (None, x, y));
    }

    for (node, expected) in [(&b, "hELLO!"), (&a, "quiet")] {
        assert_eq!(p.shout_at(node.clone(), "Hello").await.unwrap(), expected);
    }
    for (node, expected) in [(&a, "a"), (&home, "home"), (&None, "-")] {
        p.keep(node.clone()).await.unwrap();
        assert_eq!(p.call_kept().await.unwrap(), expected);
    }
}

pub(super) async fn pseudo_operations(w: Arc<World>) {
    let peer = w.peer.as_object();
    for (id, expected) in [
        ("IDL:zorb.test/Interop/Peer:1.0", true),
        ("IDL:zorb.test/Interop/Gates:1.0", true),
        ("IDL:omg.org/CORBA/Object:1.0", true),
        ("IDL:zorb.test/Interop/Node:1.0", false),
        ("IDL:shapes.test/Shapes/Point:1.0", false),
    ] {
        assert_eq!(peer.is_a(id).await.unwrap(), expected, "{id}");
    }
    assert!(peer.locate().await.unwrap());
    let loud = w.peer.make_node("loud", true).await.unwrap().unwrap();
    let loud: LoudNodeRef = loud.as_object().narrow().await.unwrap().unwrap();
    assert_eq!(loud.shout("Up").await.unwrap(), "uP!");
    let quiet = w.peer.make_node("quiet", false).await.unwrap().unwrap();
    assert_eq!(
        quiet.as_object().narrow::<LoudNodeRef>().await.unwrap(),
        None
    );
    assert_eq!(quiet.as_object().non_existent().await, Ok(false));
    assert_eq!(quiet.name().await.unwrap(), "quiet");
    w.peer.destroy_node(&quiet).await.unwrap();
    raised(
        quiet.name().await,
        Kind::ObjectNotExist,
        CompletionStatus::No,
    );
    assert_eq!(quiet.as_object().non_existent().await, Ok(true));
    assert_eq!(quiet.as_object().locate().await, Ok(false));
    w.peer.nothing().await.unwrap();
}

pub(super) async fn inheritance(w: Arc<World>) {
    for (kind, walked) in [
        ("Base", "Base:base:w"),
        ("Left", "Left:base:w|Left:left:w"),
        ("Right", "Right:base:w|Right:right:7"),
        (
            "Diamond",
            "Diamond:base:w|Diamond:left:w|Diamond:right:7|Diamond:diamond",
        ),
    ] {
        let theirs = w.peer.make_family(kind).await.unwrap().unwrap();
        let mine = host_relative(&w.orb, kind).unwrap().unwrap();
        assert_eq!(theirs.kind().await.unwrap(), kind);
        assert_eq!(walk(&theirs).await.unwrap(), walked, "we walk theirs");
        assert_eq!(w.peer.walk(&mine).await.unwrap(), walked, "they walk ours");
        assert_eq!(
            w.peer.walk(&theirs).await.unwrap(),
            walked,
            "they walk theirs"
        );
        let Some(left) = theirs.as_object().narrow::<LeftRef>().await.unwrap() else {
            continue;
        };
        assert_eq!(left.weight().await.unwrap(), 0);
        left.set_weight(-9).await.unwrap();
        assert_eq!(left.base_op("").await.unwrap(), format!("{kind}:base:"));
        let Some(diamond) = theirs.as_object().narrow::<DiamondRef>().await.unwrap() else {
            continue;
        };
        assert_eq!(diamond.weight().await.unwrap(), -9);
        assert_eq!(
            diamond.right_op(-1).await.unwrap(),
            format!("{kind}:right:-1")
        );
    }
}

pub(super) async fn callbacks(w: Arc<World>) {
    let (mine, node) = host_node(&w.orb, "mine", false);
    let home = w.peer.own_node().await.unwrap().unwrap();
    let theirs = home.bounced().await.unwrap();
    // At 7, 5, 3, 1 it is mine, at 6, 4, 2, 0 home.
    for (depth, expected) in [(0, 1), (1, 2), (7, 8)] {
        assert_eq!(w.peer.ring(&mine, depth).await.unwrap(), expected);
    }
    assert_eq!(node.bounced.load(Ordering::Relaxed), 1 + 1 + 4);
    assert_eq!(home.bounced().await.unwrap(), theirs + 1 + 4);
    assert_eq!(home.bounce(6, &mine).await.unwrap(), 6);
    raised(home.bounce(2, None).await, Kind::BadParam, None);
}

pub(super) async fn keywords(w: Arc<World>) {
    let p = &w.peer;
    p.set_use(31).await.unwrap();
    assert_eq!(p.use_().await.unwrap(), 31);
    assert_eq!(p.attribute().await.unwrap(), 77);
    assert_eq!(p.type_(9, 5).await.unwrap(), (!9, 9, 5));
    assert_eq!(p.match_("a", "b").await.unwrap(), "a/b");
    assert_eq!(p.interface(4).await.unwrap(), (!4, 4));
    let l = Loop {
        type_: 70000,
        fn_: -2,
        ref_: "Loop".to_owned(),
        struct_: 0x3c,
    };
    assert_eq!(p.move_(&l).await.unwrap(), l.twisted());
    for (word, next) in [
        (Let::Pub, Let::Mut),
        (Let::Mut, Let::Dyn),
        (Let::Dyn, Let::Pub),
    ] {
        assert_eq!(p.async_(word).await.unwrap(), next);
    }
    assert_eq!(p.for_(9, 4).await, Ok(5));
    match p.for_(6, 6).await {
        Err(ForError::Unsafe(e)) => assert_eq!((e.crate_, e.super_.as_str()), (6, "equal")),
        other => panic!("expected unsafe, found {other:?}"),
    }
    assert_eq!(p.union(0x0f).await.unwrap(), 0xf0);
    assert!(!p.clone_(true).await.unwrap());
    assert_eq!(p.drop(1000, 100, 10, 1).await.unwrap(), 909);
}
