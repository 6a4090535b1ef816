//! `any` and `TypeCode` as parameters, between two ORBs over a socket and within one: what Rust knows goes in and comes
//! out typed, what it does not know comes apart.

use zorb::{
    Abstract, Any, CompletionStatus, CustomMarshal, DataInput, DataOutput, ExtractError,
    MarshalError, ObjectRef, Orb, SystemException, SystemExceptionKind, TypeCode, Value, ValueBase,
};
use zorb_cdr::{BigEndian, Codec, Decoder, Encoder, IdlReference, WireFormat};

zorb::idl! {
    module Stock {
        enum Grade { low, high };
        struct Item { string name; Grade quality; double price; };
        typedef sequence<Item, 3> Items;
        typedef string<5> Code;
        typedef wstring Title;
        typedef long Matrix[2][2];
        exception Missing { Code what; };
        union Amount switch (Grade) {
            case low: long pieces;
            default: double weight;
        };
        valuetype Chain;
        union Maybe switch (boolean) { case TRUE: Chain next; };
        struct Wrapped { string text; Maybe next; double numbers[4]; };
        valuetype Chain { public string name; public Wrapped inner; };
        struct Shelf { any label; sequence<Shelf> inner; Object keeper; };

        typedef sequence<any> Anys;
        exception Lost { any what; TypeCode type; };

        valuetype Link { public string name; public Link next; };
        valuetype Heavy : truncatable Link { public double weight; };
        valuetype Numbers sequence<long>;
        valuetype Named : Link { public long count; };
        custom valuetype Sealed { public string text; public Link about; };
        abstract interface Either {};
        valuetype Shown supports Either { public string text; };
        interface Mostly : Either {};

        interface Keeper {
            any echo(in any value, out TypeCode type);
            TypeCode same_type(in CORBA::TypeCode type);
            string name();
            /// Calls the keeper that is in the any.
            string ask(in any keeper);
            Anys reverse(in Anys values, inout any last);
            attribute any note;
            void lose(in any what) raises (Lost);
        };
    };
}

use stock::keeper::LoseError;
use stock::{
    Amount, CODE_TYPE_CODE, Chain, EitherRef, Grade, Heavy, ITEMS_TYPE_CODE, Item, Keeper,
    KeeperRef, KeeperServant, Link, Lost, MATRIX_TYPE_CODE, Matrix, Maybe, Missing, Named, Numbers,
    Sealed, Shelf, Shown, TITLE_TYPE_CODE, Wrapped,
};

impl CustomMarshal for Sealed {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        output.write_value(self.about.as_ref())?;
        output.write(&self.text)
    }

    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let about = input.read_value()?;
        let text = input.read()?;
        Ok(Self { text, about })
    }
}

struct Servant {
    note: std::sync::Mutex<Any>,
}

impl Keeper for Servant {
    async fn echo(&self, value: &Any) -> Result<(Any, TypeCode), SystemException> {
        Ok((value.clone(), value.type_code().clone()))
    }

    async fn same_type(&self, type_: &TypeCode) -> Result<TypeCode, SystemException> {
        Ok(type_.clone())
    }

    async fn name(&self) -> Result<String, SystemException> {
        Ok("keeper".to_owned())
    }

    async fn ask(&self, keeper: &Any) -> Result<String, SystemException> {
        let keeper: Option<KeeperRef> = keeper.extract()?;
        let keeper = keeper.ok_or(SystemExceptionKind::InvObjref)?;
        keeper.name().await
    }

    async fn reverse(
        &self,
        values: &[Any],
        last: &Any,
    ) -> Result<(Vec<Any>, Any), SystemException> {
        let mut all = values.to_vec();
        all.push(last.clone());
        all.reverse();
        let last = all.pop().expect("at least one");
        Ok((all, last))
    }

    async fn note(&self) -> Result<Any, SystemException> {
        Ok(self.note.lock().expect("the lock is not poisoned").clone())
    }

    async fn set_note(&self, value: &Any) -> Result<(), SystemException> {
        *self.note.lock().expect("the lock is not poisoned") = value.clone();
        Ok(())
    }

    async fn lose(&self, what: &Any) -> Result<(), LoseError> {
        let type_ = what.type_code().clone();
        if what.extract::<bool>().is_ok() {
            Any::new("a text\0with a NUL")?;
        }
        Err(Lost {
            what: what.clone(),
            type_,
        }
        .into())
    }
}

/// A keeper in an ORB of its own, as a client elsewhere sees it, and as its own ORB does.
async fn keepers() -> (Orb, Orb, KeeperRef, KeeperRef) {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .expect("a port");
    let poa = server.root_poa();
    poa.the_poa_manager().activate().expect("a manager");
    let note = std::sync::Mutex::new(Any::default());
    let own: KeeperRef = poa
        .activate(KeeperServant::new(Servant { note }))
        .expect("a reference");
    let client = Orb::builder().build().await.expect("an ORB");
    let elsewhere = client
        .string_to_object(&own.to_string())
        .await
        .expect("a reference");
    (server, client, elsewhere.unchecked_narrow(), own)
}

fn item(name: &str) -> Item {
    Item {
        name: name.to_owned(),
        quality: Grade::High,
        price: 0.5,
    }
}

fn samples(keeper: &KeeperRef) -> Vec<Any> {
    let any = |made: Result<Any, _>| made.expect("a value of its type");
    let object: Option<ObjectRef> = Some(keeper.as_ref().clone());
    let shelf = Shelf {
        label: any(Any::new(&7)),
        inner: Vec::new(),
        keeper: object,
    };
    let matrix: Matrix = [[1, 2], [3, 4]];
    vec![
        Any::default(),
        any(Any::new("text")),
        any(Any::new(&item("nail"))),
        any(Any::with_type_code(
            &ITEMS_TYPE_CODE,
            &vec![item("a"), item("b")],
        )),
        any(Any::with_type_code(&CODE_TYPE_CODE, "abc")),
        any(Any::with_type_code(&TITLE_TYPE_CODE, "title")),
        any(Any::with_type_code(&MATRIX_TYPE_CODE, &matrix)),
        any(Any::new(&Amount::Pieces(3))),
        any(Any::new(&Missing {
            what: "it".to_owned(),
        })),
        any(Any::new(&Lost {
            what: any(Any::new(&1.5)),
            type_: TypeCode::of::<Shelf>(),
        })),
        any(Any::new(&Shelf {
            inner: vec![shelf.clone(), shelf.clone()],
            ..shelf
        })),
        any(Any::new(keeper)),
        any(Any::new(&None::<KeeperRef>)),
        any(Any::new(&any(Any::new(&any(Any::new(&true)))))),
    ]
}

#[tokio::test]
async fn anys_go_there_and_back_by_socket_and_without() {
    let (_server, _client, elsewhere, own) = keepers().await;
    for keeper in [&elsewhere, &own] {
        for sample in samples(keeper) {
            let (back, ty) = keeper.echo(&sample).await.expect("an any");
            assert_eq!(back, sample);
            assert_eq!(back.type_code(), sample.type_code());
            assert_eq!(&ty, sample.type_code());
            assert_eq!(
                &keeper.same_type(&ty).await.expect("a type"),
                sample.type_code()
            );
            assert_eq!(format!("{back:?}"), format!("{sample:?}"));
            keeper.set_note(&back).await.expect("a note");
            assert_eq!(keeper.note().await.expect("a note"), sample);
        }
        let all = samples(keeper);
        let last = Any::new(&9).expect("an any");
        let (reversed, first) = keeper.reverse(&all, &last).await.expect("anys");
        assert_eq!(
            (reversed.len(), &reversed[0], &first),
            (all.len(), &last, &all[0])
        );
    }
}

#[tokio::test]
async fn what_comes_out_is_what_went_in() {
    let (_server, _client, keeper, _own) = keepers().await;
    let (back, _) = keeper
        .echo(&Any::new(&item("nail")).expect("an any"))
        .await
        .expect("an any");
    assert_eq!(back.extract::<Item>(), Ok(item("nail")));
    assert_eq!(
        format!("{back:?}"),
        r#"Any(Stock::Item { name: "nail", quality: Stock::Grade::high, price: 0.5 })"#
    );
    let wrong = back.extract::<Vec<Item>>().expect_err("not a sequence");
    assert!(matches!(wrong, ExtractError::WrongType { .. }));
    assert_eq!(
        wrong.to_string(),
        "expected an any with sequence<Stock::Item>, found Stock::Item"
    );

    // Aliases keep their names on the way, and are nothing to Rust.
    let title = Any::with_type_code(&TITLE_TYPE_CODE, "€").expect("an any");
    let (back, ty) = keeper.echo(&title).await.expect("an any");
    assert_eq!(
        (ty.name(), back.extract::<String>()),
        (Some("Title"), Ok("€".to_owned()))
    );
    let too_many = vec![item("a"), item("b"), item("c"), item("d")];
    assert!(Any::with_type_code(&ITEMS_TYPE_CODE, &too_many).is_err());
}

#[tokio::test]
async fn what_an_any_refuses_in_a_servant_is_a_system_exception() {
    let (_server, _client, elsewhere, own) = keepers().await;
    for keeper in [&elsewhere, &own] {
        // Not a reference.
        let refused = keeper.ask(&Any::new(&1_i32).unwrap()).await.unwrap_err();
        assert_eq!(refused.kind, SystemExceptionKind::BadParam);
        assert_eq!(refused.completed, CompletionStatus::Maybe);
        // A nil reference.
        let nil = Any::new(&None::<KeeperRef>).unwrap();
        let refused = keeper.ask(&nil).await.unwrap_err();
        assert_eq!(refused.kind, SystemExceptionKind::InvObjref);
        assert_eq!(refused.completed, CompletionStatus::No);
        // A value that cannot be put into an any.
        let refused = keeper.lose(&Any::new(&true).unwrap()).await.unwrap_err();
        let LoseError::System(refused) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(refused.kind, SystemExceptionKind::BadParam);
    }
}

#[tokio::test]
async fn a_reference_in_an_any_can_be_called() {
    let (_server, _client, elsewhere, own) = keepers().await;
    let any = Any::new(&elsewhere).expect("an any");
    // The other side extracts it, and calls it.
    assert_eq!(elsewhere.ask(&any).await.expect("a name"), "keeper");
    assert_eq!(own.ask(&any).await.expect("a name"), "keeper");
    // So does this one, from an any in a struct in an any that has come back.
    let shelf = Shelf {
        label: any,
        inner: Vec::new(),
        keeper: Some(own.as_ref().clone()),
    };
    let (back, _) = elsewhere
        .echo(&Any::new(&shelf).expect("an any"))
        .await
        .expect("an any");
    let label = back
        .member("label")
        .expect("a label")
        .extract::<Any>()
        .expect("an any");
    let keeper: Option<KeeperRef> = label.extract().expect("a keeper");
    assert_eq!(
        keeper.expect("not nil").name().await.expect("a name"),
        "keeper"
    );
    let shelf: Shelf = back.extract().expect("a shelf");
    let object: Option<ObjectRef> = shelf.label.extract().expect("every reference is an Object");
    assert!(
        object
            .expect("not nil")
            .is_a("IDL:Stock/Keeper:1.0")
            .await
            .expect("an answer")
    );
}

#[tokio::test]
async fn a_reference_comes_out_of_an_any_that_never_went_anywhere() {
    let (_server, _client, keeper, _own) = keepers().await;
    let called = async |any: &Any| {
        let keeper: Option<KeeperRef> = any.extract().expect("a keeper");
        keeper
            .expect("not nil")
            .name()
            .await
            .expect("an answer")
            .len()
    };
    let any = Any::new(&keeper).expect("an any");
    assert_eq!(called(&any).await, 6);
    // Nor does it matter how deep it is in there.
    let shelf = Any::new(&Shelf {
        label: Any::new(&any).expect("an any"),
        inner: Vec::new(),
        keeper: None,
    });
    let label = shelf.expect("an any").member("label").expect("a label");
    let outer: Any = label.extract().expect("an any");
    assert_eq!(called(&outer.extract().expect("an any")).await, 6);
    let list = Any::new(&vec![Some(keeper.clone())]).expect("an any");
    let again = Any::of_elements(list.type_code(), &[any]).expect("an any");
    assert_eq!(again, list);
    assert_eq!(called(&again.elements().next().expect("one")).await, 6);
}

#[tokio::test]
async fn exceptions_carry_anys() {
    let (_server, _client, keeper, _own) = keepers().await;
    let what = Any::new(&item("nail")).expect("an any");
    match keeper.lose(&what).await {
        Err(LoseError::Lost(lost)) => {
            assert_eq!((&lost.what, &lost.type_), (&what, &TypeCode::of::<Item>()));
            let text = lost.to_string();
            assert!(text.contains("what=Any(Stock::Item { name:"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn values_in_anys_share_what_they_share() {
    let (_server, _client, elsewhere, own) = keepers().await;
    let ring = Value::new(Link {
        name: "a".to_owned(),
        next: None,
    });
    let second = Value::new(Link {
        name: "b".to_owned(),
        next: Some(ring.clone()),
    });
    ring.write().next = Some(second);
    let heavy = Value::new(Heavy {
        base: Link {
            name: "c".to_owned(),
            next: Some(ring.clone()),
        },
        weight: 0.5,
    });
    for keeper in [&elsewhere, &own] {
        let (back, ty) = keeper
            .echo(&Any::new(&ring).expect("an any"))
            .await
            .expect("an any");
        assert_eq!(
            format!("{ty:#}"),
            "valuetype Stock::Link { public string name; public Stock::Link next; }"
        );
        assert_eq!(
            back.to_string(),
            r#"Stock::Link { name: "a", next: Stock::Link { name: "b", next: Stock::Link { as before } } }"#
        );
        let first: Option<Value<Link>> = back.extract().expect("a value");
        let first = first.expect("not null");
        let second = first.read().next.clone().expect("not null");
        assert_eq!(second.read().next.as_ref(), Some(&first));

        let (back, _) = keeper
            .echo(&Any::new(&heavy).expect("an any"))
            .await
            .expect("an any");
        let read: Option<Value<Heavy>> = back.extract().expect("a value");
        assert_eq!(read.expect("not null").read().weight, 0.5);
        // It is one of its base too.
        let base: Option<Value<Link>> = back.extract().expect("a value");
        assert!(base.expect("not null").downcast::<Heavy>().is_some());

        let numbers = Any::new(&Value::new(Numbers { value: vec![1, 2] })).expect("an any");
        let (back, _) = keeper.echo(&numbers).await.expect("an any");
        assert_eq!(
            (back.to_string().as_str(), &back),
            ("Stock::Numbers([1, 2])", &numbers)
        );
        let null = Any::new(&None::<Value<Link>>).expect("an any");
        assert_eq!(keeper.echo(&null).await.expect("an any").0, null);
        let nothing = Any::new(&None::<Abstract<EitherRef>>).expect("an any");
        assert_eq!(keeper.echo(&nothing).await.expect("an any").0, nothing);
    }
}

fn link(name: &str) -> Link {
    Link {
        name: name.to_owned(),
        next: None,
    }
}

fn named(name: &str) -> Value<Named> {
    Value::new(Named {
        base: link(name),
        count: 7,
    })
}

fn sealed() -> Value<Sealed> {
    Value::new(Sealed {
        text: "secret".to_owned(),
        about: Some(named("about").upcast()),
    })
}

/// Anys that hold what their type does not tell, and what they look like.
fn odd_anys() -> Vec<(Any, &'static str)> {
    let shown = Value::new(Shown {
        text: "it".to_owned(),
    });
    let either: Option<Abstract<EitherRef>> = Some(Abstract::Value(shown.upcast()));
    let link: Value<Link> = named("n").upcast();
    let base: Value<ValueBase> = named("n").upcast();
    let list = vec![Some(link.clone()), Some(link.clone())];
    let any = |made: Result<Any, _>| made.expect("a value of its type");
    vec![
        (
            any(Any::new(&link)),
            r#"Stock::Named { name: "n", next: null, count: 7 }"#,
        ),
        (
            any(Any::new(&base)),
            r#"Stock::Named { name: "n", next: null, count: 7 }"#,
        ),
        (
            any(Any::new(&list)),
            r#"sequence<Stock::Link> [Stock::Named { name: "n", next: null, count: 7 }, Stock::Link { as before }]"#,
        ),
        (any(Any::new(&either)), r#"Stock::Shown { text: "it" }"#),
        (any(Any::new(&sealed())), "Stock::Sealed { custom }"),
    ]
}

#[tokio::test]
async fn values_in_anys_may_be_of_types_that_only_the_orb_knows() {
    let (server, client, elsewhere, own) = keepers().await;
    for (any, looks) in odd_anys() {
        assert_eq!(any.to_string(), looks);
        let refused = elsewhere.echo(&any).await.expect_err("it is unknown there");
        assert_eq!(
            (refused.kind, refused.minor & 0xfff),
            (SystemExceptionKind::Marshal, 1),
            "{looks}: {refused}"
        );
    }
    for orb in [&server, &client] {
        orb.register_value::<Named>();
        orb.register_value::<Sealed>();
        orb.register_value::<Shown>();
    }
    for (any, looks) in odd_anys() {
        for keeper in [&elsewhere, &own] {
            let (back, ty) = keeper.echo(&any).await.expect("an any");
            assert_eq!((&back, &ty), (&any, any.type_code()));
            assert_eq!(back.to_string(), looks);
            // And once more, in an any in an any.
            let outer = Any::new(&back).expect("an any");
            let (outer, _) = keeper.echo(&outer).await.expect("an any");
            assert_eq!(outer.extract::<Any>(), Ok(back));
        }
    }
    let [link, base, _, either, sealed] = &odd_anys()[..] else {
        panic!("there are five");
    };
    let (link, _) = elsewhere.echo(&link.0).await.expect("an any");
    let link: Option<Value<Link>> = link.extract().expect("a value");
    let named = link.and_then(|link| link.downcast::<Named>());
    assert_eq!(named.expect("one").read().count, 7);
    let (base, _) = elsewhere.echo(&base.0).await.expect("an any");
    let base: Option<Value<ValueBase>> = base.extract().expect("a value");
    assert!(base.expect("not null").downcast::<Named>().is_some());
    let (either, _) = elsewhere.echo(&either.0).await.expect("an any");
    match either.extract::<Option<Abstract<EitherRef>>>() {
        Ok(Some(Abstract::Value(value))) => assert!(value.downcast::<Shown>().is_some()),
        other => panic!("{other:?}"),
    }
    let (sealed, _) = elsewhere.echo(&sealed.0).await.expect("an any");
    let sealed: Option<Value<Sealed>> = sealed.extract().expect("a value");
    let about = sealed.expect("not null").read().about.clone();
    assert!(about.expect("not null").downcast::<Named>().is_some());
}

#[tokio::test]
async fn a_derived_value_of_unknown_type_is_truncated_where_it_may_be() {
    let (server, client, elsewhere, _own) = keepers().await;
    let heavy: Value<Link> = Value::new(Heavy {
        base: link("h"),
        weight: 0.5,
    })
    .upcast();
    let any = Any::new(&heavy).expect("an any");
    let (back, _) = elsewhere.echo(&any).await.expect("an any");
    assert_eq!(back.to_string(), r#"Stock::Link { name: "h", next: null }"#);
    server.register_value::<Heavy>();
    client.register_value::<Heavy>();
    let (back, _) = elsewhere.echo(&any).await.expect("an any");
    let back: Option<Value<Link>> = back.extract().expect("a value");
    let heavy = back.and_then(|link| link.downcast::<Heavy>());
    assert_eq!(heavy.expect("one").read().weight, 0.5);
}

fn chain(length: u32) -> Option<Value<Chain>> {
    (0..length).fold(None, |next, _| {
        let inner = Wrapped {
            text: "inner".to_owned(),
            next: Maybe::Next(next),
            numbers: [0.5; 4],
        };
        let name = "link".to_owned();
        Some(Value::new(Chain { name, inner }))
    })
}

/// Each takes 2 KiB of stack, and more than 7 KiB in a debug build, of which a message gets `Limits::VALUE_STACK`.
const LINKS_IN_AN_ANY: usize = if cfg!(debug_assertions) {
    30_000
} else {
    50_000
};

#[test]
fn long_chains_of_values_fit_into_a_small_stack_with_anys_and_without() {
    type ChainCodec = <Value<Chain> as IdlReference>::Codec;
    let small = std::thread::Builder::new().stack_size(512 << 10);
    let thread = small.spawn(|| {
        // Many times the stack; `crates/cdr` has a hundred thousand.
        let long = chain(5_000);
        let mut e = Encoder::<BigEndian>::new(WireFormat::default());
        ChainCodec::encode(&long, &mut e).expect("a chain");
        let mut octets = e.finish().to_vec();
        let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
        assert!(ChainCodec::decode(&mut d).expect("a chain").is_some());

        let links = (0..LINKS_IN_AN_ANY).fold(None, |next, _| {
            let name = "link".to_owned();
            Some(Value::new(Link { name, next }))
        });
        let links = Any::new(&links).expect("a chain");
        let mut e = Encoder::<BigEndian>::new(WireFormat::default());
        e.put(&links).expect("a chain");
        octets = e.finish().to_vec();
        let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
        assert_eq!(d.get::<Any>(), Ok(links.clone()));
        assert!(format!("{links:?}").len() < 100_000);
        let back: Option<Value<Link>> = links.extract().expect("a chain");
        assert_eq!(back.expect("one").read().name, "link");
    });
    thread.expect("a thread").join().expect("enough stack");
}

#[test]
fn what_is_too_deep_to_be_shown_is_left_out_and_so_is_what_is_behind_it() {
    let any = Any::new(&chain(1000)).expect("a chain");
    let shown = format!("{any:?}");
    let (first, rest) = shown.split_once('…').expect("something left out");
    assert!(first.contains("inner"), "{first}");
    // There are numbers behind each link: they stand elsewhere than where the showing ended.
    assert!(!rest.contains(char::is_numeric), "{rest}");
}

/// A value, the TypeCode of an any, a reference to the value for its own, and a long.
fn shared(first: impl FnOnce(&mut Encoder<BigEndian>), ty: &TypeCode, anys: usize) -> Vec<u8> {
    let mut e = Encoder::<BigEndian>::new(WireFormat::default());
    e.write_u8(0);
    first(&mut e);
    for _ in 0..anys {
        e.put(ty).expect("a TypeCode");
        e.write_u32(u32::MAX);
        e.write_i32(0);
    }
    e.write_u32(99);
    let mut octets = e.finish().to_vec();
    let tag = octets
        .windows(4)
        .position(|word| matches!(word, [0x7f, 0xff, 0xff, 0..=0x0e]))
        .expect("a value");
    let mut at = tag;
    while let Some(next) = octets[at..]
        .windows(8)
        .position(|it| it == [255, 255, 255, 255, 0, 0, 0, 0])
    {
        at += next + 4;
        let offset = i32::try_from(tag).expect("small") - i32::try_from(at).expect("small");
        octets[at..at + 4].copy_from_slice(&offset.to_be_bytes());
    }
    octets
}

type LinkCodec = <Value<Link> as IdlReference>::Codec;

#[test]
fn anys_of_one_message_share_values_as_omniorb_has_them_do() {
    let second = Value::new(link("b"));
    let first = Value::new(Link {
        name: "a".to_owned(),
        next: Some(second.clone()),
    });
    let heavy = Value::new(Heavy {
        base: link("h"),
        weight: 0.5,
    });
    for (value, in_chunks) in [(first, false), (heavy.upcast(), true)] {
        let any = Any::new(&value).expect("an any");
        let in_any = shared(|e| e.put(&any).expect("an any"), any.type_code(), 2);
        let alone = shared(
            |e| LinkCodec::encode(&Some(value.clone()), e).expect("a value"),
            any.type_code(),
            2,
        );
        let mut d = Decoder::<BigEndian>::from_slice(&in_any, WireFormat::default());
        d.read_u8().expect("an octet");
        let read: Vec<Any> = (0..3).map(|_| d.get().expect("an any")).collect();
        assert_eq!(d.read_u32(), Ok(99));
        if !in_chunks {
            assert_eq!(read, [any.clone(), any.clone(), any.clone()]);
        }
        assert_eq!((&read[1], &read[2]), (&read[0], &read[0]));

        let mut d = Decoder::<BigEndian>::from_slice(&alone, WireFormat::default());
        d.read_u8().expect("an octet");
        let typed = LinkCodec::decode(&mut d).expect("a value");
        let name = typed.expect("not null").read().name.clone();
        assert_eq!(name, value.read().name);
        let again: Vec<Any> = (0..2).map(|_| d.get().expect("an any")).collect();
        assert_eq!(again, read[1..]);
        assert_eq!(d.read_u32(), Ok(99));
    }
}

#[test]
fn a_value_that_stands_in_an_any_is_read_where_no_any_is() {
    let any = Any::new(&Value::new(link("a"))).expect("an any");
    let octets = shared(|e| e.put(&any).expect("an any"), any.type_code(), 1);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
    d.read_u8().expect("an octet");
    assert_eq!(d.get::<Any>(), Ok(any));
    d.get::<TypeCode>().expect("a TypeCode");
    let value = LinkCodec::decode(&mut d).expect("a value");
    assert_eq!(value.expect("not null").read().name, "a");
    assert_eq!(d.read_u32(), Ok(99));
}

#[test]
fn a_value_that_thousands_of_anys_share_is_not_copied_for_all_of_them() {
    let any = Any::new(&Value::new(link(&"a".repeat(100_000)))).expect("an any");
    let octets = shared(|e| e.put(&any).expect("an any"), any.type_code(), 10_000);
    let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
    d.read_u8().expect("an octet");
    let read = (0..10_000).map_while(|_| d.get::<Any>().ok()).count();
    let copied = read * 100_000;
    assert!(copied > octets.len(), "{read} of {}", octets.len());
    assert!(copied < 17 * octets.len(), "{read} of {}", octets.len());
}

#[test]
fn type_codes_of_generated_types_are_what_the_idl_says() {
    let shown = |ty: &TypeCode| format!("{ty:#}");
    assert_eq!(
        shown(&TypeCode::of::<Item>()),
        "struct Stock::Item { string name; Stock::Grade quality; double price; }"
    );
    assert_eq!(
        shown(&ITEMS_TYPE_CODE),
        "typedef sequence<Stock::Item, 3> Stock::Items"
    );
    assert_eq!(
        shown(&TypeCode::of::<Amount>()),
        "union Stock::Amount switch (Stock::Grade) { case low: long pieces; default: double weight; }"
    );
    assert_eq!(
        shown(&TypeCode::of::<Shelf>()),
        "struct Stock::Shelf { any label; sequence<Stock::Shelf> inner; CORBA::Object keeper; }"
    );
    assert_eq!(
        shown(&TypeCode::of::<Option<KeeperRef>>()),
        "interface Stock::Keeper"
    );
    let inner = TypeCode::of::<Shelf>()
        .member_type(1)
        .and_then(|ty| ty.content_type());
    assert_eq!(inner, Some(TypeCode::of::<Shelf>()));
}
