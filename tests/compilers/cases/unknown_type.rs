zorb::idl! {
    module Bank {
        interface Account {
            Money balance();
            void deposit(in Money amount);
        };
    };
}

fn main() {}
