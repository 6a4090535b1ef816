//! Shapes that are seldom: they have to compile without a warning, and their discriminators to be right.

#![deny(warnings)]

use std::sync::Arc;
use zorb::{Char, CompletionStatus, Native, SystemException, SystemExceptionKind, WChar};

zorb::idl! { r#"
module Odd {
  union Big switch (long long) { case -9223372036854775808: long a; case 9223372036854775807: short b; };
  union Far switch (char) { case '\377': long a; };
  union Wide switch (wchar) { case L'\uffff': long a; default: string b; };
  union Anything switch (short) { default: long x; };
  union Both switch (boolean) { case TRUE: case FALSE: long x; };
  enum Only { one };
  union Single switch (Only) { case one: long x; };
  union SingleDefault switch (Only) { default: long x; };
  union Err switch (octet) { case 1: string Ok; case 2: long None; default: boolean Some; };

  interface Discriminator { Err value(in Err discriminator_); };
  native Ticket;
  local interface Near { Err value(in Err it); };
  union Holder switch (long) { case 1: Near a; case 2: sequence<Holder> b; case 3: Discriminator d; };
  exception Spoilt { Holder what; };
  typedef Near Two[2];
  interface Plain { void foo(in Ticket x, out Ticket m) context ("a"); };
  local interface Mixed : Plain { void bar(in Two x) raises (Spoilt); };
  struct Outer { Far c; };
  struct Deep : Outer { map<octet, sequence<Holder> > m; };
};
"# }

use odd::mixed::BarError;
use odd::{
    Anything, Big, Both, Err as Union, Far, Holder, Mixed, Near, Only, Single, SingleDefault,
    Spoilt, Wide,
};

#[test]
fn discriminators_at_the_ends_of_their_types_are_right() {
    assert_eq!(Big::A(1).discriminator(), i64::MIN);
    assert_eq!(Big::B(1).discriminator(), i64::MAX);
    assert_eq!(Far::A(1).discriminator(), Char(0xff));
    assert_eq!(Wide::A(1).discriminator(), WChar(0xffff));
    assert_eq!(
        Anything::X {
            discriminator: -1,
            value: 2
        }
        .discriminator(),
        -1
    );
    assert!(
        !Both::X {
            discriminator: false,
            value: 2
        }
        .discriminator()
    );
    // One value selects it, whatever the IDL calls that.
    assert_eq!(Single::X(1).discriminator(), Only::One);
    assert_eq!(SingleDefault::X(1).discriminator(), Only::One);
    assert_eq!(
        [Union::Ok(String::new()), Union::None(1)].map(|it| it.discriminator()),
        [1, 2]
    );
}

struct Local;

impl Near for Local {
    fn value(&self, it: &Union) -> Result<Union, SystemException> {
        Ok(it.clone())
    }
}

impl Mixed for Local {
    fn foo(&self, x: &Native, context: &zorb::Context) -> Result<Native, SystemException> {
        match context.get("a") {
            Some(_) => Ok(x.clone()),
            None => Err(SystemException::new(
                SystemExceptionKind::BadContext,
                0,
                CompletionStatus::No,
            )),
        }
    }
    fn bar(&self, x: &[Option<Arc<dyn Near>>; 2]) -> Result<(), BarError> {
        Err(Spoilt {
            what: Holder::A(x[0].clone()),
        }
        .into())
    }
}

#[test]
fn local_objects_stand_in_unions_exceptions_and_arrays() {
    let near: Arc<dyn Near> = Arc::new(Local);
    let mixed: Arc<dyn Mixed> = Arc::new(Local);
    let error = mixed.bar(&[Some(Arc::clone(&near)), None]).unwrap_err();
    assert_eq!(
        error,
        BarError::Spoilt(Spoilt {
            what: Holder::A(Some(near))
        })
    );
    let ticket = Native::new(1);
    let context = [("a", "1")].into_iter().collect();
    assert_eq!(mixed.foo(&ticket, &context).unwrap(), ticket);
    assert!(mixed.foo(&ticket, &zorb::Context::new()).is_err());
}
