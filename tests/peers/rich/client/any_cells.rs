//! `any` and TypeCode.

use super::World;
use crate::rich::anys::{KINDS, fault, make, mixed_fault, type_fault};
use crate::rich::rich_idl::rich::{Kind, Mixed, Tree};
use std::sync::Arc;
use zorb::{Any, TypeCode};

const SEEDS: [i32; 8] = [0, 1, 2, 3, 5, 17, 100, 999];

/// Anys of one kind, in every direction.
async fn check(w: &World, which: Kind) {
    let peer = &w.peer;
    let make = |n| make(which, n, peer);
    for n in SEEDS {
        let wrong = |it: &Any, n| fault(which, n, it, peer);
        let made = peer.make_any(which, n).await.expect("make_any");
        assert_eq!(wrong(&made, n), "", "{which:?} made by the server for {n}");
        let theirs = peer.check_any(which, n, &make(n)).await;
        assert_eq!(theirs.expect("check_any"), "", "{which:?} sent for {n}");
        let passed = peer.pass_any(&make(n), &make(n + 1)).await;
        let (result, b, c) = passed.expect("pass_any");
        assert_eq!(
            [wrong(&result, n), wrong(&b, n), wrong(&c, n + 1)].concat(),
            ""
        );
    }
}

async fn check_all(w: &World, kinds: &[Kind]) {
    for &kind in kinds {
        check(w, kind).await;
    }
}

pub(super) async fn any_numbers(w: Arc<World>) {
    let last = KINDS.iter().position(|&kind| kind == Kind::KUlonglong);
    check_all(&w, &KINDS[..=last.expect("one of them")]).await;
}

pub(super) async fn any_texts(w: Arc<World>) {
    check_all(
        &w,
        &[Kind::KString, Kind::KBounded, Kind::KAlias, Kind::KStrings],
    )
    .await;
}

/// Which omniORB cannot even make for GIOP 1.0.
const WIDE: [Kind; 3] = [Kind::KWchar, Kind::KWstring, Kind::KBoundedWide];

pub(super) async fn any_wide(w: Arc<World>) {
    check_all(&w, &WIDE).await;
    check_types(&w, WIDE.into_iter()).await;
}

pub(super) async fn any_constructed(w: Arc<World>) {
    use Kind::{
        KArray, KArrays, KBill, KEnum, KExpr, KFixed, KSequence, KSequences, KStruct, KTree,
    };
    let kinds = [
        KEnum, KStruct, KSequence, KSequences, KArray, KArrays, KFixed, KBill, KTree, KExpr,
    ];
    check_all(&w, &kinds).await;
}

pub(super) async fn any_unions(w: Arc<World>) {
    check_all(&w, &[Kind::KUnion, Kind::KUnionNone]).await;
}

pub(super) async fn any_anonymous(w: Arc<World>) {
    check(&w, Kind::KPlainly).await;
}

pub(super) async fn any_exception(w: Arc<World>) {
    check(&w, Kind::KException).await;
}

pub(super) async fn any_values(w: Arc<World>) {
    let kinds = [
        Kind::KPlain,
        Kind::KBase,
        Kind::KNullValue,
        Kind::KRing,
        Kind::KHolder,
    ];
    check_all(&w, &kinds).await;
}

pub(super) async fn any_truncatable(w: Arc<World>) {
    check(&w, Kind::KLongest).await;
}

pub(super) async fn any_boxes(w: Arc<World>) {
    check_all(&w, &[Kind::KTextBox, Kind::KListBox]).await;
}

pub(super) async fn any_objects(w: Arc<World>) {
    check_all(&w, &[Kind::KObject, Kind::KNil]).await;
}

pub(super) async fn any_nested(w: Arc<World>) {
    check_all(&w, &[Kind::KAny, Kind::KAnys, Kind::KTypecode]).await;
}

pub(super) async fn any_sequence(w: Arc<World>) {
    let kinds = [
        Kind::KTree,
        Kind::KNull,
        Kind::KString,
        Kind::KTree,
        Kind::KAny,
        Kind::KExpr,
    ];
    let make = |kind| make(kind, 9, &w.peer);
    let turned = w.peer.turn_anys(&kinds.map(make)).await.expect("turn_anys");
    assert_eq!(turned.len(), kinds.len());
    for (kind, it) in kinds.iter().rev().zip(&turned) {
        assert_eq!(fault(*kind, 9, it, &w.peer), "");
    }
}

/// Taken for what it is not.
pub(super) async fn any_wrong(w: Arc<World>) {
    let it = w.peer.make_any(Kind::KLong, 4).await.expect("make_any");
    assert_ne!(fault(Kind::KShort, 4, &it, &w.peer), "");
    assert_ne!(fault(Kind::KLong, 5, &it, &w.peer), "");
    let long = make(Kind::KLong, 4, &w.peer);
    for (kind, n) in [(Kind::KShort, 4), (Kind::KLong, 5)] {
        let wrong = w.peer.check_any(kind, n, &long).await.expect("check_any");
        assert_ne!(wrong, "");
    }
}

pub(super) async fn mixed(w: Arc<World>) {
    let sample = |n| -> Mixed {
        let it = make(Kind::KMixed, n, &w.peer);
        it.extract().expect("what it was made of")
    };
    for n in SEEDS {
        let passed = w.peer.pass_mixed(&sample(n), &sample(n + 1)).await;
        let (result, b, c) = passed.expect("pass_mixed");
        assert_eq!([mixed_fault(n, &result), mixed_fault(n, &b)], ["", ""]);
        assert_eq!(mixed_fault(n + 1, &c), "");
    }
}

async fn check_types(w: &World, kinds: impl Iterator<Item = Kind>) {
    let tree = TypeCode::of::<Tree>();
    for kind in kinds {
        let wrong = |it: &TypeCode| type_fault(kind, it, &w.peer);
        let theirs = w.peer.type_of(kind).await.expect("type_of");
        assert_eq!(wrong(&theirs), "", "{kind:?}");
        let ours = make(kind, 1, &w.peer);
        let ours = ours.type_code();
        let found = w.peer.check_type(kind, ours).await.expect("check_type");
        assert_eq!(found, "", "{kind:?}");
        let passed = w.peer.pass_type(ours, &tree).await.expect("pass_type");
        assert_eq!((&passed.0, &passed.1, &passed.2), (ours, ours, &tree));
    }
}

/// Of which not every compiler makes the same TypeCode.
const ODD: [Kind; 3] = [Kind::KUnion, Kind::KUnionNone, Kind::KPlainly];

pub(super) async fn type_codes(w: Arc<World>) {
    let usual = |kind: &Kind| !ODD.contains(kind) && !WIDE.contains(kind);
    check_types(&w, KINDS.into_iter().filter(usual)).await;
}

pub(super) async fn union_type_codes(w: Arc<World>) {
    let kinds = [Kind::KUnion, Kind::KUnionNone];
    check_types(&w, kinds.into_iter()).await;
}

pub(super) async fn odd_type_codes(w: Arc<World>) {
    check_types(&w, ODD.into_iter()).await;
}
