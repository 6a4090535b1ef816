//! Values between two ORBs in one process, over a real socket, and within one ORB.

use std::sync::Arc;
use zorb::{
    Abstract, CompletionStatus, CustomMarshal, DataInput, DataOutput, Interface, MarshalError, Orb,
    SystemException, SystemExceptionKind as Kind, Value, ValueBase, minor,
};

zorb::idl! {
    module Things {
        exception Broken { string why; };
        valuetype Node {
            public string name;
            public Node left;
            public Node right;
        };
        valuetype Leaf : truncatable Node {
            public double weight;
            private long base;
        };
        valuetype Twig : truncatable Leaf { public sequence<Node> more; };
        abstract valuetype Shape { double area() raises (Broken); };
        valuetype Square : Shape {
            public double side;
            void grow(in double by);
            attribute string label;
            factory make(in double side);
        };
        valuetype Cube : Square { public double height; };
        custom valuetype Secret { public string text; public Node about; };
        valuetype Names sequence<string>;
        valuetype Count long;
        abstract interface Described { string describe(); };
        interface Thing : Described {};
        valuetype Note supports Described { public string text; };
        valuetype Knot { public Object holds; public Knot itself; };
        exception Wrong { Node what; };
        struct Pair { Node first; Node second; };
        union Maybe switch (boolean) { case TRUE: Node it; };

        interface Garden {
            Node echo(in Node what);
            Node both(in Node a, in Node b, out boolean same, inout Pair two);
            ValueBase base(in ValueBase any_);
            Shape reshape(in Shape what);
            Secret hide(in Secret what);
            Names boxed(in Names list, in Count number);
            Described about(in Described what);
            void tie(in Knot what);
            Knot back(in Knot what, inout Knot more, in boolean late);
            Maybe perhaps(in Maybe what);
            void refuse(in Node what) raises (Wrong);
            typedef sequence<Node> Nodes;
            Nodes all(in Nodes what);
        };
    };
}
use things::garden::RefuseError;
use things::{
    Count, Cube, Described, DescribedRef, Garden, GardenRef, GardenServant, Knot, Leaf, Maybe,
    Names, Node, Note, NoteOperations, Pair, Secret, Shape, ShapeOperations, Square,
    SquareOperations, Thing, ThingServant, Twig, Wrong,
};

type Handle = Option<Value<Node>>;

fn node(name: &str, left: Handle, right: Handle) -> Node {
    Node {
        name: name.to_owned(),
        left,
        right,
    }
}

fn name(value: &Handle) -> String {
    value
        .as_ref()
        .map_or_else(String::new, |value| value.read().name.clone())
}

impl ShapeOperations for Square {
    fn area(&mut self) -> Result<f64, things::shape::AreaError> {
        if self.side < 0.0 {
            let why = "negative".to_owned();
            return Err(things::Broken { why }.into());
        }
        Ok(self.side * self.side)
    }
}

impl SquareOperations for Square {
    fn grow(&mut self, by: f64) -> Result<(), SystemException> {
        self.side += by;
        Ok(())
    }
    fn label(&self) -> Result<String, SystemException> {
        Ok(format!("{}", self.side))
    }
    fn set_label(&mut self, value: &str) -> Result<(), SystemException> {
        self.side = value.len() as f64;
        Ok(())
    }
}

// A cube's area is another.
impl ShapeOperations for Cube {
    fn area(&mut self) -> Result<f64, things::shape::AreaError> {
        let side = self.base.area()?;
        Ok(2.0 * side + 4.0 * self.base.side * self.height)
    }
}

impl SquareOperations for Cube {
    fn grow(&mut self, by: f64) -> Result<(), SystemException> {
        self.height += by;
        self.base.grow(by)
    }
    fn label(&self) -> Result<String, SystemException> {
        Ok("cube".to_owned())
    }
    fn set_label(&mut self, value: &str) -> Result<(), SystemException> {
        self.base.set_label(value)
    }
}

impl NoteOperations for Note {
    fn describe(&mut self) -> Result<String, SystemException> {
        Ok(self.text.clone())
    }
}

impl CustomMarshal for Secret {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        let turned: String = self.text.chars().rev().collect();
        output.write(&turned)?;
        output.write_value(self.about.as_ref())?;
        output.write(&7_u8)
    }
    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let turned: String = input.read()?;
        let about = input.read_value()?;
        if input.read::<u8>()? != 7 {
            return Err(MarshalError::expected("a seven"));
        }
        Ok(Self {
            text: turned.chars().rev().collect(),
            about,
        })
    }
}

struct Thingy;

impl Described for Thingy {
    async fn describe(&self) -> Result<String, SystemException> {
        Ok("an object".to_owned())
    }
}

impl Thing for Thingy {}

struct Servant;

impl Garden for Servant {
    async fn echo(&self, node: Handle) -> Result<Handle, SystemException> {
        Ok(node)
    }
    async fn both(
        &self,
        a: Handle,
        b: Handle,
        pair: &Pair,
    ) -> Result<(Handle, bool, Pair), SystemException> {
        let turned = Pair {
            first: pair.second.clone(),
            second: pair.first.clone(),
        };
        Ok((b.clone(), a == b && a == pair.first, turned))
    }
    async fn base(
        &self,
        any: Option<Value<ValueBase>>,
    ) -> Result<Option<Value<ValueBase>>, SystemException> {
        Ok(any)
    }
    async fn reshape(
        &self,
        shape: Option<Value<Shape>>,
    ) -> Result<Option<Value<Shape>>, SystemException> {
        if let Some(mut square) = shape.as_ref().and_then(Value::downcast::<Square>) {
            square.grow(1.0)?;
        }
        Ok(shape)
    }
    async fn hide(
        &self,
        secret: Option<Value<Secret>>,
    ) -> Result<Option<Value<Secret>>, SystemException> {
        if let Some(secret) = &secret {
            secret.write().text.push('!');
        }
        Ok(secret)
    }
    async fn boxed(
        &self,
        names: Option<Value<Names>>,
        count: Option<Value<Count>>,
    ) -> Result<Option<Value<Names>>, SystemException> {
        let count = count.map_or(0, |count| count.read().value);
        if let Some(names) = &names {
            names.write().value.push(count.to_string());
        }
        Ok(names)
    }
    async fn about(
        &self,
        what: Option<Abstract<DescribedRef>>,
    ) -> Result<Option<Abstract<DescribedRef>>, SystemException> {
        Ok(what)
    }
    async fn tie(&self, _: Option<Value<Knot>>) -> Result<(), SystemException> {
        Ok(())
    }
    async fn back(
        &self,
        what: Option<Value<Knot>>,
        more: Option<Value<Knot>>,
        late: bool,
    ) -> Result<(Option<Value<Knot>>, Option<Value<Knot>>), SystemException> {
        if late {
            tokio::task::yield_now().await;
        }
        Ok((what, more))
    }
    async fn perhaps(&self, maybe: &Maybe) -> Result<Maybe, SystemException> {
        Ok(maybe.clone())
    }
    async fn refuse(&self, what: Handle) -> Result<(), RefuseError> {
        Err(Wrong { what }.into())
    }
    async fn all(&self, nodes: &[Handle]) -> Result<Vec<Handle>, SystemException> {
        Ok(nodes.iter().rev().cloned().collect())
    }
}

/// Does the same with a garden in another ORB and with one in our own.
async fn with_gardens<F: Future<Output = ()>>(test: impl Fn(Orb, GardenRef) -> F) {
    let orb = || async {
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .build()
            .await
            .unwrap();
        orb.root_poa().the_poa_manager().activate().unwrap();
        orb
    };
    let (here, there) = (orb().await, orb().await);
    for place in [&there, &here] {
        place.register_value::<Square>();
        place.register_value::<Cube>();
        place.register_value::<Secret>();
        place.register_value::<Note>();
        place.register_value::<Leaf>();
    }
    for place in [&there, &here] {
        let garden = place
            .root_poa()
            .activate(GardenServant::new(Servant))
            .unwrap();
        let text = garden.to_string();
        let garden: GardenRef = here
            .string_to_object(&text)
            .await
            .unwrap()
            .unchecked_narrow();
        test(here.clone(), garden).await;
    }
}

#[tokio::test]
async fn values_keep_who_is_whom() {
    with_gardens(|_, garden| async move {
        assert!(garden.echo(None).await.unwrap().is_none());

        // A diamond whose top refers to itself.
        let bottom = Value::new(node("bottom", None, None));
        let left = Value::new(node("left", Some(bottom.clone()), None));
        let right = Value::new(node("right", Some(bottom.clone()), None));
        let top = Value::new(node("top", Some(left), Some(right)));
        bottom.write().right = Some(top.clone());

        let back = garden.echo(&top).await.unwrap().unwrap();
        assert_ne!(back, top);
        let (left, right) = (back.read().left.clone(), back.read().right.clone());
        assert_eq!((&*name(&left), &*name(&right)), ("left", "right"));
        let (left, right) = (left.unwrap(), right.unwrap());
        assert_eq!(left.read().left, right.read().left);
        let bottom = left.read().left.clone().unwrap();
        assert_eq!(bottom.read().right, Some(back.clone()));
        assert!(format!("{back:?}").contains("bottom"));
        bottom.write().right = None;
        top.write().left = None;
        top.write().right = None;

        // Sharing goes across arguments and results.
        let one = Value::new(node("one", None, None));
        let two = Value::new(node("two", None, None));
        let pair = Pair {
            first: Some(one.clone()),
            second: Some(two.clone()),
        };
        let (b, same, turned) = garden.both(&one, &one, &pair).await.unwrap();
        assert!(same);
        assert_eq!((name(&b), &turned.second), ("one".to_owned(), &b));
        assert_eq!(name(&turned.first), "two");
        let (_, same, _) = garden.both(&one, &two, &pair).await.unwrap();
        assert!(!same);

        let nodes = [Some(one.clone()), None, Some(two), Some(one)];
        let back = garden.all(&nodes).await.unwrap();
        let names: Vec<_> = back.iter().map(name).collect();
        assert_eq!(names, ["one", "two", "", "one"]);
        assert_eq!(back[0], back[3]);
    })
    .await;
}

#[tokio::test]
async fn a_derived_value_arrives_as_what_it_is() {
    with_gardens(|_, garden| async move {
        let inner = Value::new(node("inner", None, None));
        let leaf = Leaf {
            base_: node("leaf", Some(inner.clone()), None),
            weight: 0.25,
            base: 7,
        };
        let twig = Value::new(Twig {
            base: leaf,
            more: vec![Some(inner), None],
        });
        let back = garden.echo(&twig).await.unwrap().unwrap();
        assert_eq!(back.repository_id(), "IDL:Things/Twig:1.0");
        assert_eq!(back.read().name, "leaf");
        let twig: Value<Twig> = back.downcast().unwrap();
        let leaf: Value<Leaf> = twig.upcast();
        assert_eq!((leaf.read().weight, leaf.read().base), (0.25, 7));
        assert_eq!(twig.read().more[0], back.read().left);
        assert!(twig.read().more[1].is_none());
        assert!(
            garden
                .echo(&leaf)
                .await
                .unwrap()
                .unwrap()
                .downcast::<Twig>()
                .is_some()
        );

        // As a ValueBase, only what was registered is known; a Twig can be cut to a Leaf, which is.
        let back = garden.base(&twig).await.unwrap().unwrap();
        assert_eq!(back.repository_id(), "IDL:Things/Leaf:1.0");
        assert!(back.downcast::<Square>().is_none());
        let error = garden
            .base(&Value::new(node("x", None, None)))
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind, error.minor),
            (Kind::Marshal, minor::NO_VALUE_FACTORY)
        );
        assert_eq!(error.completed, CompletionStatus::No);
    })
    .await;
}

#[tokio::test]
async fn operations_are_those_of_what_the_value_really_is() {
    with_gardens(|_, garden| async move {
        let square = Value::new(Square { side: 2.0 });
        let mut back = garden.reshape(&square).await.unwrap().unwrap();
        assert_eq!(back.area().unwrap(), 9.0);
        let cube = Value::new(Cube {
            base: Square { side: 1.0 },
            height: 1.0,
        });
        let mut back = garden.reshape(&cube).await.unwrap().unwrap();
        // `grow` was called on it as a square.
        assert_eq!(back.area().unwrap(), 2.0 * 4.0 + 4.0 * 2.0 * 2.0);
        let mut square = back.downcast::<Square>().unwrap();
        assert_eq!(square.label().unwrap(), "cube");
        square.set_label("twelve").unwrap();
        assert_eq!(square.read().side, 6.0);
        square.write().side = -1.0;
        let error = square.area().unwrap_err();
        assert!(matches!(error, things::shape::AreaError::Broken(e) if e.why == "negative"));
    })
    .await;
}

#[tokio::test]
async fn a_type_with_operations_is_unknown_until_it_is_registered() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let garden = orb
        .root_poa()
        .activate(GardenServant::new(Servant))
        .unwrap();
    let square = Value::new(Square { side: 2.0 });
    let error = garden.reshape(&square).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Marshal, minor::NO_VALUE_FACTORY)
    );
    orb.register_value::<Square>();
    assert!(garden.reshape(&square).await.is_ok());
    let secret = Value::new(Secret {
        text: String::new(),
        about: None,
    });
    let error = garden.hide(&secret).await.unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (Kind::Marshal, minor::NO_VALUE_FACTORY)
    );
}

#[tokio::test]
async fn custom_values_boxes_unions_and_exceptions_carry_values() {
    with_gardens(|_, garden| async move {
        let about = Value::new(node("about", None, None));
        let secret = Secret {
            text: "abc".to_owned(),
            about: Some(about.clone()),
        };
        let back = garden.hide(&Value::new(secret)).await.unwrap().unwrap();
        assert_eq!(back.read().text, "abc!");
        assert_eq!(name(&back.read().about), "about");

        let names = Value::new(Names {
            value: vec!["a".to_owned()],
        });
        let count = Value::new(Count { value: 5 });
        let back = garden.boxed(&names, &count).await.unwrap().unwrap();
        assert_eq!(back.read().value, ["a", "5"]);
        assert!(garden.boxed(None, None).await.unwrap().is_none());

        let maybe = Maybe::It(Some(about.clone()));
        match garden.perhaps(&maybe).await.unwrap() {
            Maybe::It(node) => assert_eq!(name(&node), "about"),
            Maybe::Unset => panic!("a node was sent"),
        }

        match garden.refuse(&about).await.unwrap_err() {
            RefuseError::Wrong(Wrong { what }) => assert_eq!(name(&what), "about"),
            RefuseError::System(error) => panic!("{error}"),
        }
    })
    .await;
}

#[tokio::test]
async fn an_abstract_interface_is_an_object_or_a_value() {
    with_gardens(|orb, garden| async move {
        assert!(garden.about(None).await.unwrap().is_none());
        let note = Value::new(Note {
            text: "a note".to_owned(),
        });
        let Some(Abstract::Value(back)) = garden.about(&note).await.unwrap() else {
            panic!("a value was sent");
        };
        assert_eq!(
            back.downcast::<Note>().unwrap().describe().unwrap(),
            "a note"
        );

        let thing = orb.root_poa().activate(ThingServant::new(Thingy)).unwrap();
        let Some(Abstract::Object(back)) = garden.about(&thing).await.unwrap() else {
            panic!("an object was sent");
        };
        assert_eq!(back.describe().await.unwrap(), "an object");
    })
    .await;
}

fn chain(links: usize) -> Handle {
    (0..links).fold(None, |left, _| Some(Value::new(node("link", left, None))))
}

#[tokio::test]
async fn a_chain_of_twenty_thousand_values_goes_there_and_back() {
    with_gardens(|_, garden| async move {
        // More than one piece of stack; `crates/cdr` has a hundred thousand.
        let chain = chain(20_000);
        // A value in chunks has all that is in it in chunks.
        let leaf = Value::new(Leaf {
            base_: node("leaf", chain, None),
            weight: 0.5,
            base: 1,
        });
        let back = garden.echo(&leaf).await.unwrap();
        assert!(format!("{back:?}").len() < 10_000);
        let mut links = 0;
        let mut at = back.clone();
        while let Some(link) = at {
            links += 1;
            at = link.read().left.clone();
        }
        assert_eq!(links, 20_001);
        let leaf = back.and_then(|back| back.downcast::<Leaf>()).unwrap();
        assert_eq!((leaf.read().weight, leaf.read().base), (0.5, 1));
        let without = leaf.read().base_.left.clone();
        let back = garden.echo(without).await.unwrap();
        assert_eq!(name(&back), "link");
    })
    .await;
}

#[tokio::test]
async fn a_chain_that_is_too_long_to_be_sent_is_refused_and_dropped_without_harm() {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.build().await.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let garden = orb
        .root_poa()
        .activate(GardenServant::new(Servant))
        .unwrap();
    let error = garden.echo(chain(1_100_000)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Marshal);
}

#[test]
fn what_is_shown_of_a_graph_is_bounded_however_often_its_values_refer_to_each_other() {
    let graph = (0..8).fold(None, |next: Option<Value<Twig>>, _| {
        let next = next.map(|next| next.upcast());
        let base = Leaf {
            base_: node("twig", None, None),
            weight: 0.0,
            base: 0,
        };
        let more = vec![next; 100];
        Some(Value::new(Twig { base, more }))
    });
    // A hundred to the power of eight, otherwise.
    assert!(format!("{graph:?}").len() < 10_000_000);
    // The next one is shown anew.
    let leaf = Value::new(node("leaf", None, None));
    assert!(format!("{leaf:?}").contains("leaf"));
}

/// Whether nothing of the cycles that `send` sends is left at the server.
async fn is_freed(send: impl AsyncFn(&GardenRef, &Value<Knot>)) {
    let orb = || Orb::builder().listen("iiop://127.0.0.1:0").build();
    let (client, server) = (orb().await.unwrap(), orb().await.unwrap());
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let garden = poa
        .activate(GardenServant::new(Servant))
        .unwrap()
        .to_string();
    let garden = client.string_to_object(&garden).await.unwrap();
    let garden: GardenRef = garden.unchecked_narrow();
    // A reference keeps its ORB, and the knot holds one.
    let knot = Value::new(Knot {
        holds: Some(garden.as_object().clone()),
        itself: None,
    });
    knot.write().itself = Some(knot.clone());
    send(&garden, &knot).await;
    knot.write().itself = None;
    drop((poa, server));
    let ended = async { while garden.echo(None).await.is_ok() {} };
    // A bound against hangs, not a measurement.
    let limit = std::time::Duration::from_secs(60);
    tokio::time::timeout(limit, ended).await.unwrap();
}

#[tokio::test]
async fn a_cycle_that_the_servant_does_not_keep_is_freed() {
    is_freed(async |garden, knot| garden.tie(knot).await.unwrap()).await;
}

#[tokio::test]
async fn a_cycle_that_the_servant_gives_back_is_freed() {
    for late in [false, true] {
        is_freed(async |garden, knot| {
            let (back, more) = garden.back(knot, knot, late).await.unwrap();
            // The client may modify the values that it has got.
            for knot in [back, more].into_iter().flatten() {
                knot.write().itself = None;
            }
        })
        .await;
    }
}

#[test]
fn a_value_is_equal_to_itself_only() {
    let one = Value::new(node("same", None, None));
    assert_eq!(one, one.clone());
    assert_ne!(one, Value::new(node("same", None, None)));
    // A cycle shows itself to a certain depth only, and a value that is being written not at all.
    one.write().left = Some(one.clone());
    assert!(format!("{one:?}").ends_with("right: None }"));
    let writing = one.write();
    assert_eq!(format!("{one:?}"), "Things::Node { <locked> }");
    drop(writing);
    one.write().left = None;
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&one);
    let _: Arc<Value<Node>> = Arc::new(one);
}
