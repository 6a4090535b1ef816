use std::rc::Rc;
use zorb::SystemException;

zorb::idl! {
    interface Account {
        double balance();
    };
}

struct Savings;

impl Account for Savings {
    async fn balance(&self) -> Result<f64, SystemException> {
        let kept = Rc::new(1.0);
        tokio::task::yield_now().await;
        Ok(*kept)
    }
}

fn main() {}
