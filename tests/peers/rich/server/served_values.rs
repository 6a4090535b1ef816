//! Values.

use super::served_rich_data::verify;
use super::{Peer, Raises};
use crate::rich::rich_idl::rich::{
    Account, AccountOperations as _, Base, Boxes, Describable, DescribableRef, Empty, Holder,
    ListBox, Node, Note, NoteOperations as _, Plain, Rectangle, Shape, ShapeOperations as _,
    Special, Spoilt, Square, Suit, TextBox, Thing, ThingRef, ThingServant, Values, values,
};
use crate::rich::values::{digest_of_two, made_base, ring, twisted};
use zorb::{Abstract, Interface, Orb, Value, ValueBase};

/// `T echo_xxx(in T a, inout T b, in unsigned long long check, out T c)`.
macro_rules! echo {
    ($($name:ident($in:ty) -> $out:ty, $error:ty;)+) => {$(
        async fn $name(&self, a: $in, b: $in, check: u64) -> Result<($out, $out, $out), $error> {
            let (a, b): ($out, $out) = (a.to_owned(), b.to_owned());
            verify(stringify!($name), check, digest_of_two(&a, &b))?;
            Ok((twisted(&a), a, b))
        }
    )+};
}

type May<T> = Option<Value<T>>;

/// An object with a name.
pub(crate) struct NamedThing(pub(crate) String);

impl Describable for NamedThing {
    async fn describe(&self) -> Raises<String> {
        Ok(format!("thing {}", self.0))
    }
}

impl Thing for NamedThing {
    async fn name(&self) -> Raises<String> {
        Ok(self.0.clone())
    }
}

pub(crate) fn thing(orb: &Orb, name: &str) -> Raises<ThingRef> {
    let servant = ThingServant::new(NamedThing(name.to_owned()));
    Ok(orb.root_poa().activate(servant).expect("the ORB listens"))
}

/// Its description.
pub(crate) async fn described(it: Option<&Abstract<DescribableRef>>) -> Raises<String> {
    match it {
        None => Ok("nil".to_owned()),
        Some(Abstract::Object(object)) => object.describe().await,
        Some(Abstract::Value(value)) => {
            let mut note: Value<Note> = value.downcast().expect("the only one of that kind");
            note.describe()
        }
    }
}

fn kind(it: Option<&Value<ValueBase>>) -> String {
    it.map_or_else(String::new, |value| value.repository_id().to_owned())
}

impl Values for Peer {
    echo! {
        echo_plain(May<Plain>) -> May<Plain>, values::EchoPlainError;
        echo_base(May<Base>) -> May<Base>, values::EchoBaseError;
        echo_empty(May<Empty>) -> May<Empty>, values::EchoEmptyError;
        echo_node(May<Node>) -> May<Node>, values::EchoNodeError;
        echo_nodes(&[May<Node>]) -> Vec<May<Node>>, values::EchoNodesError;
        echo_holder(&Holder) -> Holder, values::EchoHolderError;
        echo_boxes(May<Boxes>) -> May<Boxes>, values::EchoBoxesError;
        echo_text(May<TextBox>) -> May<TextBox>, values::EchoTextError;
        echo_list(May<ListBox>) -> May<ListBox>, values::EchoListError;
        echo_account(May<Account>) -> May<Account>, values::EchoAccountError;
        echo_special(May<Special>) -> May<Special>, values::EchoSpecialError;
    }

    async fn same(&self, a: May<Node>, b: May<Node>) -> Raises<bool> {
        Ok(a == b)
    }

    async fn make_ring(&self, n: i32) -> Raises<May<Node>> {
        Ok(ring(n))
    }

    async fn kind_of(&self, it: May<Base>) -> Raises<String> {
        Ok(kind(it.map(|value| value.upcast()).as_ref()))
    }

    async fn pass_value(&self, it: May<ValueBase>) -> Raises<(May<ValueBase>, String)> {
        let kind = kind(it.as_ref());
        Ok((it, kind))
    }

    async fn make_base(&self, hidden: bool) -> Raises<May<Base>> {
        Ok(Some(made_base(hidden)))
    }

    async fn truncate(&self, a: May<Base>, b: May<Base>) -> Raises<(May<Base>, bool)> {
        let one = a == b;
        Ok((b, one))
    }

    async fn area(&self, it: May<Shape>) -> Raises<f64> {
        it.map_or(Ok(0.0), |mut shape| shape.area())
    }

    async fn make_shape(&self, square: bool, wide: f64, high: f64) -> Raises<May<Shape>> {
        Ok(Some(if square {
            Value::new(Square { side: wide }).upcast()
        } else {
            Value::new(Rectangle { wide, high }).upcast()
        }))
    }

    async fn deposit(&self, it: May<Account>, amount: i32) -> Raises<(May<Account>, i64)> {
        let Some(mut account) = it else {
            return Ok((None, 0));
        };
        let balance = account.deposit(amount)?;
        Ok((Some(account), balance))
    }

    async fn pass(
        &self,
        it: Option<Abstract<DescribableRef>>,
    ) -> Raises<(
        Option<Abstract<DescribableRef>>,
        String,
        Option<Abstract<DescribableRef>>,
    )> {
        let text = described(it.as_ref()).await?;
        let twin = match &it {
            None => None,
            Some(Abstract::Object(object)) => {
                let thing: ThingRef = object.as_object().unchecked_narrow();
                let text = thing.name().await?;
                Some(Abstract::Value(Value::new(Note { text }).upcast()))
            }
            Some(Abstract::Value(value)) => {
                let note: Value<Note> = value.downcast().expect("the only one of that kind");
                let name = note.read().text.clone();
                Some(Abstract::Object(thing(&self.orb, &name)?.into()))
            }
        };
        Ok((it, text, twin))
    }

    async fn pass_all(
        &self,
        all: &[Option<Abstract<DescribableRef>>],
    ) -> Raises<(Vec<Option<Abstract<DescribableRef>>>, String)> {
        let mut texts = Vec::new();
        for one in all {
            texts.push(described(one.as_ref()).await?);
        }
        Ok((all.to_vec(), texts.join(",")))
    }

    async fn make_thing(&self, name: &str) -> Raises<Option<ThingRef>> {
        thing(&self.orb, name).map(Some)
    }

    async fn spoil(&self, code: i32, why: &str) -> Result<(), values::SpoilError> {
        let what = Value::new(Plain {
            number: code,
            text: "spoilt".to_owned(),
            suit: Suit::Hearts,
        });
        Err(Spoilt {
            what: Some(what.clone()),
            why: why.to_owned(),
            same: Some(what),
        }
        .into())
    }
}
