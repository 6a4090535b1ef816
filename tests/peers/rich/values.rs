//! The rules at the head of `rich.idl` for values: what is shared is twisted once, and seen by the
//! digest. And what the operations of values do.

use crate::digest::{Digest, Value as Plainly, Wide, digest_of};
use crate::rich::hidden::Hidden;
use crate::rich::rich_idl::rich::{
    Account, AccountOperations, Base, Boxes, ByLong, Derived, Empty, Holder, ListBox, LongBox,
    Longer, Longest, MaybePlain, Node, Note, NoteOperations, Plain, Point, PointBox, Rectangle,
    ShapeOperations, Special, Square, Suit, TextBox, UnionBox, WideBox,
};
use std::collections::HashMap;
use zorb::{
    Concrete, CustomMarshal, DataInput, DataOutput, Derives, MarshalError, Orb, SystemException,
    Value, ValueBase, ValueState, ValueType,
};

/// Copies of what has been met.
#[derive(Default)]
pub(crate) struct Twist(HashMap<Value<ValueBase>, Value<ValueBase>>);

/// A digest, and the values that it has met.
pub(crate) struct GraphDigest<'a> {
    digest: &'a mut Digest,
    met: Vec<Value<ValueBase>>,
}

/// Types that may hold values.
pub(crate) trait Graph: Sized {
    /// A copy of all that it reaches, twisted.
    fn twist_in(&self, t: &mut Twist) -> Self;
    /// As [`Plainly::feed`].
    fn feed_in(&self, d: &mut GraphDigest<'_>);
}

pub(crate) fn twisted<T: Graph>(it: &T) -> T {
    it.twist_in(&mut Twist::default())
}

/// The digest of several things together: what they share is seen.
pub(crate) fn digest_together(feed: impl FnOnce(&mut GraphDigest<'_>)) -> u64 {
    digest_of(|digest| {
        let met = Vec::new();
        feed(&mut GraphDigest { digest, met });
    })
}

pub(crate) fn digest_of_two<T: Graph>(a: &T, b: &T) -> u64 {
    digest_together(|d| {
        a.feed_in(d);
        b.feed_in(d);
    })
}

pub(crate) fn digest_of_one<T: Graph>(it: &T) -> u64 {
    digest_together(|d| it.feed_in(d))
}

/// Types that hold no values.
macro_rules! plain {
    ($($name:ty),+ $(,)?) => {$(
        impl Graph for $name {
            fn twist_in(&self, _: &mut Twist) -> Self {
                self.twisted()
            }
            fn feed_in(&self, d: &mut GraphDigest<'_>) {
                self.feed(d.digest);
            }
        }
    )+};
}
plain!(
    u8,
    i16,
    i32,
    i64,
    f64,
    String,
    Vec<i32>,
    Suit,
    Point,
    ByLong
);

/// A member that a twist leaves alone.
struct Quiet;
/// Wide text, which Rust does not tell from other text.
struct WideText;

/// How a member is treated: as its type says, unless a marker stands behind it.
macro_rules! member {
    (twist $it:expr, $t:ident) => {
        $it.twist_in($t)
    };
    (twist $it:expr, $t:ident, Quiet) => {{
        let _ = Quiet;
        $it.clone()
    }};
    (twist $it:expr, $t:ident, WideText) => {{
        let _ = WideText;
        $it.twisted()
    }};
    (feed $it:expr, $d:ident) => {
        $it.feed_in($d)
    };
    (feed $it:expr, $d:ident, Quiet) => {
        $it.feed_in($d)
    };
    (feed $it:expr, $d:ident, WideText) => {
        $it.feed_wide($d.digest)
    };
}

macro_rules! states {
    ($($name:ident { $($field:ident $(: $how:ident)?),* })+) => {$(
        impl Graph for $name {
            #[allow(unused_variables, reason = "some have no members")]
            fn twist_in(&self, t: &mut Twist) -> Self {
                Self { $($field: member!(twist self.$field, t $(, $how)?)),* }
            }
            #[allow(unused_variables, reason = "some have no members")]
            fn feed_in(&self, d: &mut GraphDigest<'_>) {
                $(member!(feed self.$field, d $(, $how)?);)*
            }
        }
    )+};
}

/// Types of values: what a handle of any kind is treated as.
macro_rules! value_types {
    ($($name:ident),+ $(,)?) => {
        fn twist_value(value: &Value<ValueBase>, t: &mut Twist) -> Value<ValueBase> {
            if let Some(twisted) = t.0.get(value) {
                return twisted.clone();
            }
            let id = value.repository_id();
            $(if id == <$name as ValueType>::REPOSITORY_ID {
                return twist_state::<$name>(value, t);
            })+
            panic!("no value of rich.idl: {id}");
        }

        fn feed_state(value: &Value<ValueBase>, d: &mut GraphDigest<'_>) {
            let id = value.repository_id();
            $(if id == <$name as ValueType>::REPOSITORY_ID {
                return feed_state_of::<$name>(value, d);
            })+
            panic!("no value of rich.idl: {id}");
        }
    };
}

fn twist_state<T: Graph + Concrete + Clone + Derives<ValueBase>>(
    value: &Value<ValueBase>,
    t: &mut Twist,
) -> Value<ValueBase> {
    let state = value.downcast::<T>().expect("of that type").read().clone();
    // It is there before its members are looked at: they may refer to it.
    let copy = Value::new(state.clone());
    t.0.insert(value.clone(), copy.upcast());
    let state = state.twist_in(t);
    *copy.write() = state;
    copy.upcast()
}

fn feed_state_of<T: Graph + ValueState + Clone>(value: &Value<ValueBase>, d: &mut GraphDigest<'_>) {
    let state = value.downcast::<T>().expect("of that type").read().clone();
    state.feed_in(d);
}

impl<T: Derives<ValueBase>> Graph for Option<Value<T>> {
    fn twist_in(&self, t: &mut Twist) -> Self {
        let value = self.as_ref()?;
        Some(
            twist_value(&value.upcast(), t)
                .downcast()
                .expect("the same type"),
        )
    }
    fn feed_in(&self, d: &mut GraphDigest<'_>) {
        let Some(value) = self else {
            return u32::MAX.feed(d.digest);
        };
        let value = value.upcast();
        if let Some(at) = d.met.iter().position(|met| *met == value) {
            let number = u32::try_from(at + 1).expect("not so many");
            return number.feed(d.digest);
        }
        d.met.push(value.clone());
        0_u32.feed(d.digest);
        value.repository_id().feed(d.digest);
        feed_state(&value, d);
    }
}

impl<T: Derives<ValueBase>> Graph for Vec<Option<Value<T>>> {
    fn twist_in(&self, t: &mut Twist) -> Self {
        // In the order in which they are met.
        let mut twisted: Self = self.iter().map(|value| value.twist_in(t)).collect();
        twisted.reverse();
        twisted
    }
    fn feed_in(&self, d: &mut GraphDigest<'_>) {
        d.digest.count(self.len());
        self.iter().for_each(|value| value.feed_in(d));
    }
}

states! {
    Plain { number, text, suit }
    Base { id, name }
    Derived { base, more }
    Longer { base, extra, inner }
    Longest { base, last, list }
    Hidden { base, secret, inner, end }
    Empty {}
    Node { name, others, next }
    Holder { g0, first, g1, second, maybe, many, at }
    LongBox { value }
    TextBox { value }
    WideBox { value: WideText }
    PointBox { value }
    ListBox { value }
    UnionBox { value }
    Boxes { number, text, wide, point, list, union, again }
    Account { quiet_balance: Quiet, owner }
    Square { side }
    Rectangle { wide, high }
    Note { text }
}

impl Graph for MaybePlain {
    fn twist_in(&self, t: &mut Twist) -> Self {
        match self {
            Self::It(value) => Self::It(value.twist_in(t)),
            Self::Unset => Self::Unset,
        }
    }
    fn feed_in(&self, d: &mut GraphDigest<'_>) {
        self.discriminator().feed(d.digest);
        if let Self::It(value) = self {
            value.feed_in(d);
        }
    }
}

impl Graph for Special {
    fn twist_in(&self, t: &mut Twist) -> Self {
        Self {
            stamp: self.stamp.twisted(),
            text: self.text.twisted(),
            data: self.data.twisted(),
            inner: self.inner.twist_in(t),
        }
    }
    fn feed_in(&self, d: &mut GraphDigest<'_>) {
        self.stamp.feed(d.digest);
        self.text.feed(d.digest);
        self.data.feed(d.digest);
        self.inner.feed_in(d);
    }
}

value_types! {
    Plain, Base, Derived, Longer, Longest, Hidden, Empty, Node, LongBox, TextBox, WideBox, PointBox,
    ListBox, UnionBox, Boxes, Account, Square, Rectangle, Note, Special,
}

impl AccountOperations for Account {
    fn deposit(&mut self, amount: i32) -> Result<i64, SystemException> {
        self.quiet_balance += i64::from(amount);
        Ok(self.quiet_balance)
    }
    fn balance(&self) -> Result<i64, SystemException> {
        Ok(self.quiet_balance)
    }
}

impl ShapeOperations for Square {
    fn area(&mut self) -> Result<f64, SystemException> {
        Ok(self.side * self.side)
    }
}

impl ShapeOperations for Rectangle {
    fn area(&mut self) -> Result<f64, SystemException> {
        Ok(self.wide * self.high)
    }
}

impl NoteOperations for Note {
    fn describe(&mut self) -> Result<String, SystemException> {
        Ok(format!("note {}", self.text))
    }
}

/// Its state goes on the wire as the IDL says.
impl CustomMarshal for Special {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        output.write(&self.text)?;
        output.write(&self.stamp)?;
        output.write_value(self.inner.as_ref())?;
        output.write(&0x5a_u8)?;
        output.write(&self.data)
    }
    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let text = input.read()?;
        let stamp = input.read()?;
        let inner = input.read_value()?;
        if input.read::<u8>()? != 0x5a {
            return Err(MarshalError::expected("0x5a"));
        }
        let data = input.read()?;
        Ok(Self {
            stamp,
            text,
            data,
            inner,
        })
    }
}

/// Registers value types with an ORB: types with operations, and those that arrive as a ValueBase.
pub(crate) fn register(orb: &Orb) {
    orb.register_value::<Account>();
    orb.register_value::<Square>();
    orb.register_value::<Rectangle>();
    orb.register_value::<Note>();
    orb.register_value::<Special>();
    orb.register_value::<Plain>();
    orb.register_value::<Longest>();
    orb.register_value::<Base>();
    orb.register_value::<Derived>();
    orb.register_value::<ListBox>();
    orb.register_value::<Node>();
    orb.register_value::<TextBox>();
}

pub(crate) fn plain(n: i32) -> Value<Plain> {
    Value::new(Plain {
        number: n,
        text: format!("p {n}"),
        suit: Suit::Spades,
    })
}

fn base(id: i16, name: &str) -> Base {
    let name = name.to_owned();
    Base { id, name }
}

pub(crate) fn a_base(id: i16, name: &str) -> Value<Base> {
    Value::new(base(id, name))
}

pub(crate) fn derived(id: i16, name: &str, more: f64) -> Value<Derived> {
    let base = base(id, name);
    Value::new(Derived { base, more })
}

pub(crate) fn longer(id: i16, name: &str, extra: i64, inner: Option<Value<Base>>) -> Longer {
    let base = base(id, name);
    Longer { base, extra, inner }
}

pub(crate) fn longest(n: i32) -> Value<Longest> {
    Value::new(Longest {
        base: longer(n as i16, &format!("s {n}"), n.into(), None),
        last: n as u8,
        list: crate::rich::rich_samples::longs(n),
    })
}

pub(crate) fn ring(n: i32) -> Option<Value<Node>> {
    let node = |i: i32| {
        Value::new(Node {
            name: i.to_string(),
            others: Vec::new(),
            next: None,
        })
    };
    let all: Vec<_> = (0..n).map(node).collect();
    let first = all.first()?;
    let next = all.iter().skip(1).chain([first]);
    for (node, next) in all.iter().zip(next) {
        let mut state = node.write();
        state.others = vec![Some(node.clone()), Some(first.clone())];
        state.next = Some(next.clone());
    }
    Some(first.clone())
}

pub(crate) fn holder(n: i32) -> Holder {
    let plain = Some(plain(n));
    Holder {
        g0: 8,
        first: plain.clone(),
        g1: 9,
        second: plain.clone(),
        maybe: MaybePlain::It(plain.clone()),
        many: vec![plain, None],
        at: crate::rich::rich_samples::point(n),
    }
}

/// The result of `make_base`.
pub(crate) fn made_base(hidden: bool) -> Value<Base> {
    let inner = Some(derived(8, "in", 0.5).upcast());
    if hidden {
        let value = Value::new(Hidden {
            base: base(7, "hidden"),
            secret: "secret".to_owned(),
            inner,
            end: 2.5,
        });
        return value.upcast();
    }
    let value = Value::new(Longest {
        base: longer(7, "hidden", -9, inner),
        last: 0x77,
        list: vec![1, 2, 3],
    });
    value.upcast()
}
