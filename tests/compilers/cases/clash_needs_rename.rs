// `module foo` and `interface Foo` both become `mod foo`.
zorb::idl! {
    module Outer {
        module foo {
            const long LIMIT = 3;
        };
        interface Foo {
            exception Full {};
            void add() raises (Full);
        };
    };
}

// The attribute of the base and the operation both become `set_limit`.
zorb::idl! {
    interface Gauge {
        attribute long limit;
    };
    interface Meter : Gauge {
        void set_limit(in long value);
    };
}

fn main() {}
