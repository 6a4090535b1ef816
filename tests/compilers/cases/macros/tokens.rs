//! IDL as tokens: each fault is shown at its own token, those of several definitions at once.

macro_rules! idl {
    ($($t:tt)*) => { zorb_idl_macros::idl_tokens! { [::zorb] $($t)* } };
}

mod semantic {
    idl! {
        #pragma prefix "example.com"
        /// A comment moves nothing.
        module Shop {
            typedef sequence<sequence<long>> Deep;
            interface Till {
                long ring(in Deep d, in Missing e);
                /** Nor does one
                  * of several lines. */ long ring(in any x);
            };
            union U switch (long) { case 1: long x; };
            typedef sequence<U> Us;
            interface FooBar { void a_b(); void aB(); };
        };
    }
}

mod syntax {
    idl! {
        module A {
            struct S { long a long b; };
            interface I { void f(in long); void g(int x); };
            const long X = 1 +;
        };
    }

    // Names of a module with an error are not reported besides.
    mod servant {
        use super::a::{I, IRef, i::Gone};
        struct Servant;
        impl I for Servant {
            async fn f(&self, _: i32) -> Result<(), Gone> {
                IRef::new().f(super::a::X).await
            }
        }
    }
}

mod conditional {
    idl! {
        #ifdef NOT_CLOSED
    }
}

fn main() {}
