use zorb::SystemException;

zorb::idl! {
    interface Account {
        double balance();
        void deposit(in double amount);
        void rename(in string name);
    };
}

struct Savings;

impl Account for Savings {
    async fn balance(&self) -> Result<i64, SystemException> {
        Ok(0)
    }

    async fn deposit(&self, amount: f32) -> Result<(), SystemException> {
        let _ = amount;
        Ok(())
    }

    async fn rename(&self, name: String) -> Result<(), SystemException> {
        drop(name);
        Ok(())
    }
}

fn main() {}
