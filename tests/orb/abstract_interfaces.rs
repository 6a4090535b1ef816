//! Calls of an abstract interface's operations, on objects and on values.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use zorb::{Abstract, OctetsRef, Orb, SystemException, SystemExceptionKind, Value};

zorb::idl! {
    module Desk {
        exception Torn { string where_; };
        typedef sequence<octet> Blob;
        typedef sequence<long> Numbers;
        interface Printer;
        abstract interface Named { readonly attribute string name; };
        abstract interface Printable : Named {
            attribute long copies;
            string text(in string head, inout long line, in Numbers marks, in Blob ink) raises (Torn);
            void join(in Printable other, in Printer through);
            string of_caller() context ("who");
        };
        interface Printer : Printable {};
        valuetype Page supports Printable { public string words; public long copied; };
        valuetype Letter : Page { public string to; };
        abstract valuetype Noted { string note(); };
        custom valuetype Card : Noted supports Named { public string title; };
        valuetype Bare { public long state; };
        interface Tray { Printable add(in Printable what); Named name_of(in Named what); };
    };
}
use desk::printable::TextError;
use desk::{
    Bare, Card, CardOperations, Letter, Named, NamedRef, NotedOperations, Page, PageOperations,
    Printable, PrintableRef, Printer, PrinterRef, PrinterServant, Torn, Tray, TrayRef, TrayServant,
};

type Any = Option<Abstract<PrintableRef>>;

/// The common interface of a page and a letter.
trait Paper {
    fn page(&self) -> &Page;
    fn page_mut(&mut self) -> &mut Page;
    fn title(&self) -> String;
}

impl Paper for Page {
    fn page(&self) -> &Page {
        self
    }
    fn page_mut(&mut self) -> &mut Page {
        self
    }
    fn title(&self) -> String {
        "page".to_owned()
    }
}

impl Paper for Letter {
    fn page(&self) -> &Page {
        &self.base
    }
    fn page_mut(&mut self) -> &mut Page {
        &mut self.base
    }
    fn title(&self) -> String {
        self.to.clone()
    }
}

/// Implements the operations for each type: the implementation of a base is none of a derived type.
macro_rules! prints {
    ($($state:ty),*) => {$(
        impl PageOperations for $state {
            fn name(&self) -> Result<String, SystemException> {
                Ok(self.title())
            }
            fn copies(&self) -> Result<i32, SystemException> {
                Ok(self.page().copied)
            }
            fn set_copies(&mut self, value: i32) -> Result<(), SystemException> {
                self.page_mut().copied = value;
                Ok(())
            }
            fn text(
                &mut self,
                head: &str,
                line: i32,
                marks: &[i32],
                ink: OctetsRef<'_>,
            ) -> Result<(String, i32), TextError> {
                if ink.is_empty() {
                    Err(Torn { where_: head.to_owned() })?;
                }
                let words = &self.page().words;
                Ok((format!("{head} {words} {marks:?}"), line + 1))
            }
            fn join(&mut self, other: Any, _: Option<PrinterRef>) -> Result<(), SystemException> {
                self.page_mut().copied += i32::from(other.is_some());
                Ok(())
            }
            fn of_caller(&mut self) -> Result<String, SystemException> {
                Ok("a value".to_owned())
            }
        }
    )*};
}

prints!(Page, Letter);

impl NotedOperations for Card {
    fn note(&mut self) -> Result<String, SystemException> {
        Ok(String::new())
    }
}

impl CardOperations for Card {
    fn name(&self) -> Result<String, SystemException> {
        Ok(self.title.clone())
    }
}

impl zorb::CustomMarshal for Card {
    fn marshal(&self, output: &mut zorb::DataOutput<'_>) -> Result<(), zorb::MarshalError> {
        output.write(&self.title)
    }
    fn unmarshal(input: &mut zorb::DataInput<'_, '_>) -> Result<Self, zorb::MarshalError> {
        Ok(Self {
            title: input.read()?,
        })
    }
}

#[derive(Default)]
struct Machine(AtomicI32);

impl Named for Machine {
    async fn name(&self) -> Result<String, SystemException> {
        Ok("machine".to_owned())
    }
}

impl Printable for Machine {
    async fn copies(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }
    async fn set_copies(&self, value: i32) -> Result<(), SystemException> {
        self.0.store(value, Ordering::Relaxed);
        Ok(())
    }
    async fn text(
        &self,
        head: &str,
        line: i32,
        marks: &[i32],
        ink: OctetsRef<'_>,
    ) -> Result<(String, i32), TextError> {
        if ink.is_empty() {
            Err(Torn {
                where_: head.to_owned(),
            })?;
        }
        Ok((format!("{head} printed {marks:?}"), line + 1))
    }
    async fn join(&self, other: Any, _: Option<PrinterRef>) -> Result<(), SystemException> {
        self.0
            .fetch_add(i32::from(other.is_some()), Ordering::Relaxed);
        Ok(())
    }
    async fn of_caller(&self, context: &zorb::Context) -> Result<String, SystemException> {
        Ok(context.get("who").unwrap_or("unknown").to_owned())
    }
}

impl Printer for Machine {}

/// Uses what it gets by the abstract interface alone, and gives it back.
struct Desk;

impl Tray for Desk {
    async fn add(&self, what: Any) -> Result<Any, SystemException> {
        let Some(it) = &what else {
            return Ok(None);
        };
        it.set_copies(it.copies().await? + 10).await?;
        Ok(what)
    }

    async fn name_of(
        &self,
        what: Option<Abstract<NamedRef>>,
    ) -> Result<Option<Abstract<NamedRef>>, SystemException> {
        let name = match &what {
            Some(it) => it.name().await?,
            None => String::new(),
        };
        Ok(Some(Abstract::Value(
            Value::new(Card { title: name }).upcast(),
        )))
    }
}

/// Calls every operation, as a function that takes servants does.
async fn use_up(it: &impl Printable, words: &str, name: &str) {
    assert_eq!(it.name().await.unwrap(), name);
    assert_eq!(it.copies().await.unwrap(), 10);
    let ink = [1, 2];
    let (text, line) = it
        .text("dear", 4, &[1, 2], OctetsRef::new(&ink))
        .await
        .unwrap();
    assert_eq!((text, line), (format!("dear {words} [1, 2]"), 5));
    let torn = it
        .text("left", 1, &[], OctetsRef::new(&[]))
        .await
        .unwrap_err();
    assert_eq!(
        torn,
        TextError::Torn(Torn {
            where_: "left".to_owned()
        })
    );
    it.join(None, None).await.unwrap();
    assert_eq!(it.copies().await.unwrap(), 10);
}

#[tokio::test]
async fn operations_of_an_abstract_interface_reach_objects_and_values_alike() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .value::<Page>()
        .value::<Letter>()
        .value::<Card>()
        .value::<Bare>();
    let server = server.build().await.unwrap();
    let poa = server.root_poa();
    let near: TrayRef = poa.activate(TrayServant::new(Desk)).unwrap();
    let machine = Arc::new(Machine::default());
    let printer = poa.activate(PrinterServant::from_arc(machine)).unwrap();
    poa.the_poa_manager().activate().unwrap();
    let client = Orb::builder().build().await.unwrap();
    client.register_value::<Page>();
    client.register_value::<Letter>();
    client.register_value::<Card>();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    let far: TrayRef = far.unchecked_narrow();

    let page = || Page {
        words: "hello".to_owned(),
        copied: 0,
    };
    let back = far.add(&Value::new(page())).await.unwrap().unwrap();
    assert!(matches!(back, Abstract::Value(_)));
    use_up(&back, "hello", "page").await;
    let context = zorb::Context::from_iter([("who", "me")]);
    assert_eq!(back.of_caller(&context).await.unwrap(), "a value");

    // The method of the type that the value really is.
    let letter = Value::new(Letter {
        base: page(),
        to: "Ada".to_owned(),
    });
    let back = far.add(&letter.upcast::<Page>()).await.unwrap().unwrap();
    use_up(&back, "hello", "Ada").await;

    let back = far.add(&printer).await.unwrap().unwrap();
    assert!(matches!(back, Abstract::Object(_)));
    use_up(&back, "printed", "machine").await;
    assert_eq!(back.of_caller(&context).await.unwrap(), "me");

    // A custom value type, by a base of the interface.
    let card = Value::new(Card {
        title: "ace".to_owned(),
    });
    let named = far.name_of(&card).await.unwrap().unwrap();
    assert_eq!(named.name().await.unwrap(), "ace");

    // Nothing checks before that the type supports the interface.
    let bare = Value::new(Bare { state: 1 });
    let refused = far.add(&bare).await.unwrap_err();
    assert_eq!(refused.kind, SystemExceptionKind::NoImplement);
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}
