zorb::idl! {
    module Bank {
        struct Account { long id; };
        interface Account {
            void close();
        };
        interface Teller {
            void open(in string name);
            void Open(in long id);
        };
    };
}

fn main() {}
