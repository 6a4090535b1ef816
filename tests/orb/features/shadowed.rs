//! IDL types that are called what Rust's prelude calls something else: generated code means the prelude's.

#![deny(warnings)]

zorb::idl! { r#"
module Shadowed {
  struct Option { long a; };     interface Result { void f(); };  union Vec switch (long) { case 1: long a; };
  valuetype Box { public long a; };  struct Sized { long a; };    struct Send { long a; };  struct Sync { long a; };
  enum Clone { Copy, Debug };    exception Some { long a; };      exception None {};        exception Ok {};
  exception Err {};              struct String_ { long a; };      typedef long From;        typedef string Into;
  local interface Default_ { void f(); };  struct PartialEq { long a; };  struct Eq { long a; };  struct Drop { long a; };
  typedef sequence<Option> ToString;  struct Iterator { long a; };  struct std { long a; };  struct core { long a; };
  struct u32 { long a; };        struct i32 { long a; };          struct bool { long a; };  struct str { long a; };
  struct Value { long a; };      struct Orb { long a; };          struct SystemException { long a; };

  interface Servant_ { Option f(in string a, out ToString b, inout Vec c) raises (Some, Ok); attribute string at; any g(in any a); };
  valuetype Plain { public string s; private Plain next; };
  valuetype Busy : Plain { public string t; long run(in string x) raises (None); factory make(in long a); };
  custom valuetype Own { public string s; };
  valuetype Boxed string;
  abstract interface Either { void f(); };
  union Any_ switch (boolean) { case TRUE: string s; };
  bitmask Bits { one, two };
  bitset Parts { bitfield<3> a; bitfield<9> b; };
  struct All { string s; sequence<string> q; any a; fixed<5,2> f; long double d; Option o; Sized z; };
};
"# }

use shadowed::{Option, Plain, Sized};

#[test]
fn the_prelude_in_generated_code_is_that_of_rust() {
    let value = zorb::Value::new(Plain {
        s: String::from("a"),
        next: None,
    });
    assert!(value.read().next.is_none());
    assert_eq!((Option { a: 1 }).a, (Sized { a: 1 }).a);
}
