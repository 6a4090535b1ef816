//! Values of value types in dynamic calls and servants: what arguments have in common, types that are known by IDL alone, and
//! those that no IDL describes.

use zorb::{
    Abstract, Any, CompletionStatus, CustomMarshal, DataInput, DataOutput, DynamicReply,
    DynamicRequest, DynamicServant, DynamicSkeleton, Interface, MarshalError, ObjectRef, Orb,
    RequestError, SystemException, SystemExceptionKind as Kind, Value, ValueBase, minor,
};
use zorb_dynamic::IdlTypes;

const IDL: &str = "
    module Graphs {
        valuetype Node {
            public string name;
            public Node next;
        };
        valuetype Leaf : truncatable Node {
            public long weight;
        };
        valuetype Text string;
        custom valuetype Own { public long number; };
        abstract interface Shown { string show(); };
        interface Page : Shown {};
        valuetype Note supports Shown { public string text; };
        struct Pair { Node first; Node second; };
        interface Judge {
            // Of each argument the number of the first one that it is the same value as.
            string same(in Node a, in Pair both, inout Node b, out Node c);
            string kind(in Node it);
            string base(in ValueBase it);
            Text write(in Text it);
            string number_of(in Own it);
            string look(in Shown it, out Shown again);
        };
    };
";

zorb::idl! {
    module Graphs {
        valuetype Node {
            public string name;
            public Node next;
        };
        valuetype Leaf : truncatable Node {
            public long weight;
        };
        valuetype Text string;
        custom valuetype Own { public long number; };
        abstract interface Shown { string show(); };
        interface Page : Shown {};
        valuetype Note supports Shown { public string text; };
        struct Pair { Node first; Node second; };
        interface Judge {
            string same(in Node a, in Pair both, inout Node b, out Node c);
            string kind(in Node it);
            string base(in ValueBase it);
            Text write(in Text it);
            string number_of(in Own it);
            string look(in Shown it, out Shown again);
        };
    };
}

use graphs::{
    Judge, JudgeRef, JudgeServant, Leaf, Node, Note, NoteOperations, Own, Page, PageServant, Pair,
    Shown, ShownRef, Text,
};

type Result<T> = core::result::Result<T, SystemException>;

impl NoteOperations for Note {
    fn show(&mut self) -> Result<String> {
        Ok(self.text.clone())
    }
}

impl CustomMarshal for Own {
    fn marshal(&self, output: &mut DataOutput<'_>) -> core::result::Result<(), MarshalError> {
        output.write(&self.number)
    }

    fn unmarshal(input: &mut DataInput<'_, '_>) -> core::result::Result<Self, MarshalError> {
        let number = input.read()?;
        Ok(Self { number })
    }
}

struct Court;

/// Where each value is first among them, and among those that are their next ones.
fn judged(values: &[Option<Value<Node>>]) -> String {
    let mut all: Vec<Value<Node>> = Vec::new();
    let mut text = String::new();
    let mut place = |value: &Option<Value<Node>>| match value {
        None => "-".to_owned(),
        Some(value) => {
            let found = all.iter().position(|it| it == value);
            let found = found.unwrap_or_else(|| {
                all.push(value.clone());
                all.len() - 1
            });
            found.to_string()
        }
    };
    for value in values {
        text.push_str(&place(value));
        if let Some(value) = value {
            text.push_str(&place(&value.read().next));
        }
        text.push(' ');
    }
    text
}

impl Judge for Court {
    async fn same(
        &self,
        a: Option<Value<Node>>,
        both: &Pair,
        b: Option<Value<Node>>,
    ) -> Result<(String, Option<Value<Node>>, Option<Value<Node>>)> {
        let all = [
            a.clone(),
            both.first.clone(),
            both.second.clone(),
            b.clone(),
        ];
        Ok((judged(&all), b, a))
    }

    async fn kind(&self, it: Option<Value<Node>>) -> Result<String> {
        Ok(it.map_or_else(String::new, |it| it.repository_id().to_owned()))
    }

    async fn base(&self, it: Option<Value<ValueBase>>) -> Result<String> {
        Ok(it.map_or_else(String::new, |it| it.repository_id().to_owned()))
    }

    async fn write(&self, it: Option<Value<Text>>) -> Result<Option<Value<Text>>> {
        Ok(it)
    }

    async fn number_of(&self, it: Option<Value<Own>>) -> Result<String> {
        Ok(it.map_or_else(String::new, |it| it.read().number.to_string()))
    }

    async fn look(
        &self,
        it: Option<Abstract<ShownRef>>,
    ) -> Result<(String, Option<Abstract<ShownRef>>)> {
        let text = match &it {
            Some(it) => it.show().await?,
            None => "nil".to_owned(),
        };
        Ok((text, it))
    }
}

impl Shown for Court {
    async fn show(&self) -> Result<String> {
        Ok("a page".to_owned())
    }
}

impl Page for Court {}

/// Decodes arguments and results by the IDL, and makes both anew.
struct Gateway(ObjectRef, IdlTypes);

impl DynamicServant for Gateway {
    async fn invoke(
        &self,
        request: &DynamicRequest<'_>,
    ) -> core::result::Result<DynamicReply, RequestError> {
        let signature = self
            .1
            .signature(JudgeRef::REPOSITORY_ID, &request.operation());
        let signature = signature.map_err(SystemException::from)?;
        let (arguments, _) = request.arguments_of(&signature)?;
        let response = signature.request(&self.0, &arguments)?.invoke().await;
        let response = response.map_err(|error| match error {
            RequestError::System(exception) => exception.raise().into(),
            user => user,
        })?;
        signature.reply(response.result, response.outputs)
    }
}

struct World {
    orbs: Vec<Orb>,
    /// The judge behind the gateway, and without one.
    judges: [JudgeRef; 2],
    page: ObjectRef,
}

fn register(orb: &Orb) {
    orb.register_value::<Note>();
    orb.register_value::<Leaf>();
    orb.register_value::<Node>();
    orb.register_value::<Text>();
    orb.register_value::<Own>();
}

async fn world(between: impl FnOnce(&Orb, &IdlTypes)) -> World {
    let listening = async || {
        let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
        let orb = orb.await.unwrap();
        orb.root_poa().the_poa_manager().activate().unwrap();
        orb
    };
    let (server, gateway) = (listening().await, listening().await);
    let client = Orb::builder().build().await.unwrap();
    let types = IdlTypes::from_text("graphs.idl", IDL).unwrap();
    between(&gateway, &types);
    register(&server);
    register(&client);
    let judge = server
        .root_poa()
        .activate(JudgeServant::new(Court))
        .unwrap();
    let page = server.root_poa().activate(PageServant::new(Court)).unwrap();
    let target = gateway.string_to_object(&judge.to_string()).await.unwrap();
    let skeleton = DynamicSkeleton::new(JudgeRef::REPOSITORY_ID, Gateway(target, types));
    let front = gateway.root_poa().activate(skeleton).unwrap();
    let seen = async |text: String| client.string_to_object(&text).await.unwrap();
    let judges = [
        seen(front.to_string()).await.unchecked_narrow(),
        seen(judge.to_string()).await.unchecked_narrow(),
    ];
    let page = seen(page.to_string()).await;
    World {
        orbs: vec![client, gateway, server],
        judges,
        page,
    }
}

impl World {
    async fn end(self) {
        for orb in self.orbs {
            orb.shutdown(true).await.unwrap();
        }
    }
}

fn node(name: &str, next: Option<Value<Node>>) -> Value<Node> {
    let name = name.to_owned();
    Value::new(Node { name, next })
}

fn leaf(name: &str, weight: i32) -> Value<Node> {
    let base = Node {
        name: name.to_owned(),
        next: None,
    };
    Value::new(Leaf { base, weight }).upcast()
}

#[tokio::test]
async fn what_arguments_and_results_have_in_common_they_have_in_common_behind_a_gateway() {
    let world = world(|orb, types| types.register_values(orb)).await;
    let (one, two) = (node("one", None), node("two", None));
    let chain = node("chain", Some(one.clone()));
    let ring = node("ring", None);
    let inner = node("inner", Some(ring.clone()));
    ring.write().next = Some(inner.clone());
    let leaf = leaf("leaf", 7);
    let of_leaf = node("of leaf", Some(leaf.clone()));
    let itself = node("itself", None);
    itself.write().next = Some(itself.clone());
    for [a, first, second, b] in [
        [Some(&one), Some(&two), None, Some(&one)],
        [Some(&one), Some(&one), Some(&one), Some(&one)],
        // A value within an earlier argument, and one around it.
        [Some(&chain), Some(&one), None, Some(&chain)],
        [Some(&one), Some(&chain), Some(&one), Some(&chain)],
        // Within a circle, from either end.
        [Some(&ring), Some(&inner), Some(&ring), Some(&inner)],
        [Some(&inner), None, Some(&ring), Some(&inner)],
        [Some(&itself), Some(&itself), None, Some(&itself)],
        // Of a derived type, which travels in chunks.
        [Some(&of_leaf), Some(&leaf), Some(&of_leaf), Some(&leaf)],
        [Some(&leaf), Some(&of_leaf), None, Some(&leaf)],
        [None, None, None, None],
    ] {
        let pair = Pair {
            first: first.cloned(),
            second: second.cloned(),
        };
        let mut answers = Vec::new();
        for judge in &world.judges {
            let (a, b) = (a.cloned(), b.cloned());
            let (said, b, c) = judge.same(a, &pair, b).await.unwrap();
            answers.push((said, judged(&[b, c])));
        }
        assert_eq!(answers[0], answers[1]);
    }
    for it in [&ring, &itself] {
        it.write().next = None;
    }
    world.end().await;
}

#[tokio::test]
async fn values_of_types_that_are_known_by_idl_alone_arrive_as_they_are() {
    let world = world(|orb, types| types.register_values(orb)).await;
    let text = Value::new(Text {
        value: "words".to_owned(),
    });
    for judge in &world.judges {
        let leaf = leaf("leaf", 7);
        assert_eq!(
            judge.kind(Some(leaf.clone())).await.unwrap(),
            "IDL:Graphs/Leaf:1.0"
        );
        assert_eq!(judge.kind(None).await.unwrap(), "");
        let base: Value<ValueBase> = leaf.upcast();
        assert_eq!(judge.base(Some(base)).await.unwrap(), "IDL:Graphs/Leaf:1.0");
        let boxed: Value<ValueBase> = text.upcast();
        assert_eq!(
            judge.base(Some(boxed)).await.unwrap(),
            "IDL:Graphs/Text:1.0"
        );
        let again = judge.write(Some(text.clone())).await.unwrap();
        assert_eq!(again.unwrap().read().value, "words");
        assert!(judge.write(None).await.unwrap().is_none());
        // An abstract interface: an object, a value, and neither.
        let page: ShownRef = world.page.unchecked_narrow();
        let (said, again) = judge.look(Some(Abstract::Object(page))).await.unwrap();
        assert_eq!(said, "a page");
        assert!(matches!(again, Some(Abstract::Object(_))));
        let note = Value::new(Note {
            text: "a note".to_owned(),
        });
        let it: Option<Abstract<ShownRef>> = (&note).into();
        let (said, again) = judge.look(it).await.unwrap();
        assert_eq!(said, "a note");
        assert!(matches!(again, Some(Abstract::Value(_))));
        let (said, again) = judge.look(None).await.unwrap();
        assert_eq!((&*said, again), ("nil", None));
    }
    world.end().await;
}

#[tokio::test]
async fn values_of_types_that_a_gateway_does_not_know_are_truncated_or_refused() {
    let world = world(|_, _| {}).await;
    let [judge, _] = &world.judges;
    // The IDL states a base to which it may be truncated.
    let kind = judge.kind(Some(leaf("leaf", 7))).await.unwrap();
    assert_eq!(kind, "IDL:Graphs/Node:1.0");
    let base: Value<ValueBase> = leaf("leaf", 7).upcast();
    let refused = judge.base(Some(base)).await.unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor, refused.completed),
        (Kind::Marshal, minor::NO_VALUE_FACTORY, CompletionStatus::No)
    );
    world.end().await;
}

#[tokio::test]
async fn values_with_custom_marshalling_need_a_type_of_the_program() {
    let own = || Some(Value::new(Own { number: 7 }));
    let without = world(|orb, types| types.register_values(orb)).await;
    let [judge, _] = &without.judges;
    let refused = judge.number_of(own()).await.unwrap_err();
    assert_eq!(
        (refused.kind, refused.minor, refused.completed),
        (Kind::Marshal, minor::NO_VALUE_FACTORY, CompletionStatus::No)
    );
    assert_eq!(judge.number_of(None).await.unwrap(), "");
    without.end().await;
    let with = world(|orb, _| orb.register_value::<Own>()).await;
    for judge in &with.judges {
        assert_eq!(judge.number_of(own()).await.unwrap(), "7");
    }
    with.end().await;
}

#[test]
fn types_whose_state_idl_does_not_show_are_not_registered() {
    let orb = Orb::builder().build_blocking().unwrap();
    let types = IdlTypes::from_text("graphs.idl", IDL).unwrap();
    for (name, expected) in [
        ("Node", true),
        ("Leaf", true),
        ("Text", true),
        ("Own", false),
        ("Pair", false),
        ("Judge", false),
        ("Shown", false),
    ] {
        let ty = types.by_name(&format!("Graphs::{name}")).unwrap();
        assert_eq!(orb.register_value_type(&ty), expected, "{name}");
    }
    assert!(!orb.register_value_type(Any::default().type_code()));
    orb.shutdown(true).unwrap();
}
