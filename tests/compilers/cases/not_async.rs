use zorb::SystemException;

zorb::idl! {
    interface Account {
        double balance();
    };
}

struct Savings;

impl Account for Savings {
    fn balance(&self) -> Result<f64, SystemException> {
        Ok(0.0)
    }
}

fn main() {}
