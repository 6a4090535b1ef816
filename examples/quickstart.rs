//! A server and a client in one program, over a real TCP socket and a real UNIX socket.
//!
//! Run it with `cargo run --example quickstart`. You should see the reference that the server
//! gives out, the calls that the client makes over each transport, and what came of them: a
//! balance, a typed exception, a callback.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Mutex;
use zorb::{ObjectRef, Orb, SystemException};

zorb::idl! {
    module Bank {
        interface Observer {
            oneway void changed(in string owner, in double balance);
        };

        interface Account {
            exception InsufficientFunds { double missing; };

            readonly attribute string owner;
            readonly attribute double balance;
            void deposit(in double amount);
            void withdraw(in double amount) raises (InsufficientFunds);
            void watch(in Observer who);
        };
    };
}

use bank::account::{InsufficientFunds, WithdrawError};
use bank::{Account, AccountRef, AccountServant, Observer, ObserverRef, ObserverServant};

/// The servant: an ordinary type that implements the interface's trait.
#[derive(Default)]
struct Savings {
    balance: Mutex<f64>,
    observer: Mutex<Option<ObserverRef>>,
}

impl Savings {
    async fn tell(&self, balance: f64) -> Result<(), SystemException> {
        let observer = self.observer.lock().unwrap().clone();
        match observer {
            Some(observer) => observer.changed("Ada", balance).await,
            None => Ok(()),
        }
    }
}

impl Account for Savings {
    async fn owner(&self) -> Result<String, SystemException> {
        Ok("Ada".to_owned())
    }

    async fn balance(&self) -> Result<f64, SystemException> {
        Ok(*self.balance.lock().unwrap())
    }

    async fn deposit(&self, amount: f64) -> Result<(), SystemException> {
        let balance = {
            let mut balance = self.balance.lock().unwrap();
            *balance += amount;
            *balance
        };
        self.tell(balance).await
    }

    async fn withdraw(&self, amount: f64) -> Result<(), WithdrawError> {
        let balance = {
            let mut balance = self.balance.lock().unwrap();
            if *balance < amount {
                let missing = amount - *balance;
                return Err(InsufficientFunds { missing }.into());
            }
            *balance -= amount;
            *balance
        };
        Ok(self.tell(balance).await?)
    }

    async fn watch(&self, who: Option<ObserverRef>) -> Result<(), SystemException> {
        *self.observer.lock().unwrap() = who;
        Ok(())
    }
}

/// A servant on the client's side, which the server calls back.
struct Screen {
    seen: tokio::sync::mpsc::UnboundedSender<f64>,
}

impl Observer for Screen {
    async fn changed(&self, owner: &str, balance: f64) -> Result<(), SystemException> {
        println!("    (the server calls back: {owner} has {balance:.2})");
        let _ = self.seen.send(balance);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let socket = std::env::temp_dir().join(format!("zorb-quickstart-{}", std::process::id()));

    // The server: listen, activate a servant, let requests through.
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .listen(format!("uiop://{}", socket.display()))
        .build()
        .await?;
    let poa = server.root_poa();
    let account = poa.activate(AccountServant::new(Savings::default()))?;
    poa.the_poa_manager().activate()?;
    for endpoint in server.endpoints() {
        println!("serving at {endpoint}");
    }
    println!("{}\n", server.object_to_string(&account));

    // The client knows nothing but the text of the reference.
    let reference = server.object_to_string(&account);
    let client = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    let object = client.string_to_object(&reference).await?;
    for scheme in ["iiop", "uiop"] {
        println!("over {scheme}:");
        talk(&client, only(&object, scheme)).await?;
    }

    client.shutdown(true).await?;
    server.shutdown(true).await?;
    println!("\nboth ORBs are down");
    Ok(())
}

async fn talk(client: &Orb, object: ObjectRef) -> Result<(), Box<dyn std::error::Error>> {
    let account: AccountRef = object.narrow().await?.ok_or("not a Bank::Account")?;
    println!("  owner      -> {:?}", account.owner().await?);
    println!("  deposit(10)");
    account.deposit(10.0).await?;
    println!("  balance    -> {:.2}", account.balance().await?);
    match account.withdraw(1000.0).await {
        Err(WithdrawError::InsufficientFunds(e)) => {
            println!(
                "  withdraw(1000) raises InsufficientFunds: {:.2} missing",
                e.missing
            );
        }
        other => println!("  withdraw(1000) -> {other:?}"),
    }

    let (seen, mut sees) = tokio::sync::mpsc::unbounded_channel();
    let screen = client
        .root_poa()
        .activate(ObserverServant::new(Screen { seen }))?;
    client.root_poa().the_poa_manager().activate()?;
    account.watch(&screen).await?;
    println!("  withdraw(2.50)");
    account.withdraw(2.5).await?;
    let balance = sees.recv().await.ok_or("the server never called back")?;
    assert_eq!(balance, account.balance().await?);
    account.watch(None).await?;
    client.root_poa().deactivate_object(&screen)?;
    Ok(())
}

/// The reference with the profile of one transport alone, to show each by itself; a
/// client otherwise takes the first that works.
fn only(object: &ObjectRef, scheme: &str) -> ObjectRef {
    let mut ior = object.ior().clone();
    ior.profiles
        .retain(|profile| (profile.tag.0 == 0) == (scheme == "iiop"));
    object.orb().object(ior)
}
