use zorb::SystemException;

zorb::idl! {
    interface Account {
        double balance();
        void deposit(in double amount);
    };
}

struct Savings;

impl Account for Savings {
    async fn balance(&self) -> Result<f64, SystemException> {
        Ok(0.0)
    }
}

fn main() {}
