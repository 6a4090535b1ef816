//! Operations with a `context` clause.

use crate::features::two_orbs::{from_afar, in_time, orb};
use std::sync::Mutex;
use zorb::{Context, SystemException};

zorb::idl! {
    module Contexts {
        interface Shell {
            string run(in string greeting, inout long status) context ("user", "app.*");
            oneway void note(in string _context) context ("user");
            string noted();
        };
    };
}

use contexts::{Shell, ShellRef, ShellServant};

#[derive(Default)]
struct Servant(Mutex<String>);

impl Shell for Servant {
    async fn run(
        &self,
        greeting: &str,
        status: i32,
        context: &Context,
    ) -> Result<(String, i32), SystemException> {
        let all: Vec<_> = context
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        Ok((format!("{greeting} {}", all.join(",")), status + 1))
    }
    async fn note(&self, context: &str, context_: &Context) -> Result<(), SystemException> {
        *self.0.lock().unwrap() = format!("{context} {:?}", context_.get("user"));
        Ok(())
    }
    async fn noted(&self) -> Result<String, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }
}

#[tokio::test]
async fn only_what_the_operation_names_travels() {
    let (server, client) = (orb().await, orb().await);
    let shell = server
        .root_poa()
        .activate(ShellServant::new(Servant::default()))
        .unwrap();
    let shell: ShellRef = from_afar(&client, &shell).await;

    let mut context: Context = [
        ("user", "ada"),
        ("users", "2"),
        ("app.b", "2"),
        ("app", "no"),
    ]
    .into_iter()
    .collect();
    context.set("app.a", "1é");
    let (said, status) = in_time(shell.run("hi", 1, &context)).await.unwrap();
    assert_eq!((said.as_str(), status), ("hi app.a=1é,app.b=2,user=ada", 2));
    let (said, _) = in_time(shell.run("hi", 1, &Context::new())).await.unwrap();
    assert_eq!(said, "hi ");

    in_time(shell.note("text", &context)).await.unwrap();
    // One-ways of one connection are carried out in order, before what follows.
    assert_eq!(in_time(shell.noted()).await.unwrap(), r#"text Some("ada")"#);
}
