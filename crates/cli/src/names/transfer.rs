//! `zorb names export` and `import`: all names of a service, as lines of JSON or from another service.

use super::walk::{AT_A_TIME, Bound, Item, Walk};
use super::{Failure, Session, omninames};
use crate::argument::Argument;
use crate::paint::Clean;
use serde_json::{Map, Value};
use std::io::{Read, Write};
use tokio::task::JoinSet;
use zorb::naming::{Name, NamingClient, NamingError};
use zorb::{ObjectRef, Orb};

/// Writes all names.
pub(super) async fn export(session: &Session<'_>) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let foreign = Walk::new(&session.root)
        .await?
        .run(async |item| Ok(writeln!(out, "{}", line(&item))?))
        .await?;
    out.flush()?;
    Ok(say_foreign(foreign)?)
}

/// Says how many names of a walk lead to contexts of other services.
fn say_foreign(foreign: usize) -> std::io::Result<()> {
    let (contexts, their, names) = match foreign {
        0 => return Ok(()),
        1 => ("context of another service", "its reference", "its names"),
        _ => (
            "contexts of other services",
            "their references",
            "their names",
        ),
    };
    writeln!(
        anstream::stderr(),
        "{foreign} {contexts}, by {their}: {names} are not followed"
    )
}

/// A binding as JSON.
fn line(item: &Item) -> Value {
    let (key, value) = match &item.bound {
        Bound::Object(None) => ("object", Value::Null),
        Bound::Object(Some(object)) => ("object", object.to_string().into()),
        Bound::NewContext => ("new_context", true.into()),
        Bound::SameContext(name) => ("same_context", text(name).into()),
        Bound::ForeignContext(context) => ("foreign_context", context.to_string().into()),
    };
    let fields = [("name", text(&item.name).into()), (key, value)];
    Value::Object(Map::from_iter(
        fields.map(|(key, value)| (key.to_owned(), value)),
    ))
}

/// A name as text; the empty one, of the root, is empty.
fn text(name: &Name) -> String {
    match name.is_empty() {
        true => String::new(),
        false => name.to_string(),
    }
}

/// Reads a line that [`line`] has made.
async fn read_line(line: &str, orb: &Orb) -> Result<Item, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let name_of = |value: &Value| {
        let text = value.as_str().ok_or("expected a name")?;
        match text {
            "" => Ok(Name::default()),
            text => text
                .parse::<Name>()
                .map_err(|error| format!("name {text:?}: {error}")),
        }
    };
    let reference = async |value: &Value| {
        let text = value.as_str().ok_or("expected a reference")?;
        let object = orb.string_to_object(text).await;
        object.map_err(|error| format!("{error:#}"))
    };
    let name = name_of(&value["name"])?;
    if name.is_empty() {
        return Err("expected a name, found none".to_owned());
    }
    let bound = match &value {
        value if value.get("object").is_some_and(Value::is_null) => Bound::Object(None),
        value if value.get("object").is_some() => {
            Bound::Object(Some(reference(&value["object"]).await?))
        }
        value if value["new_context"] == true => Bound::NewContext,
        value if value.get("same_context").is_some() => {
            Bound::SameContext(name_of(&value["same_context"])?)
        }
        value if value.get("foreign_context").is_some() => {
            Bound::ForeignContext(reference(&value["foreign_context"]).await?)
        }
        _ => {
            return Err("expected object, new_context, same_context or foreign_context".to_owned());
        }
    };
    Ok(Item { name, bound })
}

/// Binds everything that a file or another service has.
pub(super) async fn import(
    session: &Session<'_>,
    source: &str,
    rebind: bool,
) -> Result<(), Failure> {
    let said = |what| Failure::Said { what, hint: None };
    let mut import = Import {
        root: session.root.clone(),
        rebind,
        tasks: JoinSet::new(),
        bound: 0,
        contexts: 0,
        failures: Vec::new(),
    };
    if is_url(source) {
        let url = Argument::url(source).map_err(said)?;
        let object = session.orb.string_to_object(&url).await?;
        let from = NamingClient::at(&object).await?;
        let foreign = Walk::new(&from)
            .await?
            .run(async |item| import.add(item).await)
            .await?;
        say_foreign(foreign)?;
    } else {
        let octets =
            read_all(source).map_err(|why| said(format!("cannot read {source}: {why}")))?;
        if omninames::is_log(&octets) {
            let items = omninames::read(&octets, session.orb);
            for item in items.map_err(|why| said(format!("{source}, {why}")))? {
                import.add(item).await?;
            }
        } else {
            let lines = String::from_utf8(octets);
            let lines = lines.map_err(|why| said(format!("{source}: {why}")))?;
            for (at, line) in lines.lines().enumerate() {
                let item = read_line(line, session.orb).await;
                let at = at.saturating_add(1);
                import
                    .add(item.map_err(|why| said(format!("{source}, line {at}: {why}")))?)
                    .await?;
            }
        }
    }
    import.finish().await
}

/// Whether an argument is a reference, and no file or standard input.
fn is_url(source: &str) -> bool {
    ["IOR:", "ior:", "corbaloc:", "corbaname:"]
        .iter()
        .any(|scheme| source.starts_with(scheme))
}

fn read_all(source: &str) -> std::io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    match source {
        "-" => std::io::stdin().lock().read_to_end(&mut octets)?,
        file => std::fs::File::open(file)?.read_to_end(&mut octets)?,
    };
    Ok(octets)
}

/// An import that is running. Objects are bound many at a time, contexts one after the other, as names follow in them.
struct Import {
    root: NamingClient,
    rebind: bool,
    tasks: JoinSet<(Name, Result<(), NamingError>)>,
    bound: usize,
    contexts: usize,
    /// What could not be bound.
    failures: Vec<String>,
}

impl Import {
    async fn add(&mut self, item: Item) -> Result<(), Failure> {
        let Item { name, bound } = item;
        let (root, rebind) = (self.root.clone(), self.rebind);
        match bound {
            Bound::Object(object) => {
                while self.tasks.len() >= AT_A_TIME {
                    self.join().await?;
                }
                self.tasks.spawn(async move {
                    let done = bind(&root, &name, object, rebind).await;
                    (name, done)
                });
                Ok(())
            }
            Bound::NewContext => match root.make_contexts(&name).await {
                Ok(_) => {
                    self.contexts = self.contexts.saturating_add(1);
                    Ok(())
                }
                Err(error) => self.failed(&name, error),
            },
            Bound::SameContext(before) => {
                let context = match before.is_empty() {
                    true => Ok(root.clone()),
                    false => root.subcontext(&before).await,
                };
                match context {
                    Ok(context) => self.bind_context(&name, &context).await,
                    Err(error) => self.failed(&name, error),
                }
            }
            Bound::ForeignContext(context) => {
                // It need not answer to be bound.
                let context = NamingClient::new(context.unchecked_narrow());
                self.bind_context(&name, &context).await
            }
        }
    }

    async fn bind_context(&mut self, name: &Name, context: &NamingClient) -> Result<(), Failure> {
        let done = match self.rebind {
            true => self.root.rebind_context(name, context).await,
            false => self.root.bind_context(name, context).await,
        };
        self.done(name, done)
    }

    fn done(&mut self, name: &Name, done: Result<(), NamingError>) -> Result<(), Failure> {
        match done {
            Ok(()) => {
                self.bound = self.bound.saturating_add(1);
                Ok(())
            }
            Err(error) => self.failed(name, error),
        }
    }

    /// Notes what could not be bound; the service's own failure ends the import.
    fn failed(&mut self, name: &Name, error: NamingError) -> Result<(), Failure> {
        if error.system().is_some() {
            return Err(error.into());
        }
        self.failures.push(format!("{name}: {error}"));
        Ok(())
    }

    async fn join(&mut self) -> Result<(), Failure> {
        match self.tasks.join_next().await {
            Some(Ok((name, done))) => self.done(&name, done),
            Some(Err(panicked)) => Err(std::io::Error::other(panicked).into()),
            None => Ok(()),
        }
    }

    async fn finish(mut self) -> Result<(), Failure> {
        while !self.tasks.is_empty() {
            self.join().await?;
        }
        let Self {
            bound, contexts, ..
        } = self;
        writeln!(
            anstream::stdout(),
            "{bound} bound in {contexts} new contexts"
        )?;
        if self.failures.is_empty() {
            return Ok(());
        }
        let mut err = anstream::stderr();
        for failure in &self.failures {
            writeln!(err, "{}", Clean(failure))?;
        }
        let hint = (!self.rebind).then(|| "--rebind replaces what is bound".to_owned());
        Err(Failure::Said {
            what: format!("{} of the names could not be bound", self.failures.len()),
            hint,
        })
    }
}

/// Binds an object, or nil, and makes the contexts of its name that are missing.
async fn bind(
    root: &NamingClient,
    name: &Name,
    object: Option<ObjectRef>,
    rebind: bool,
) -> Result<(), NamingError> {
    let object = object.unwrap_or_else(|| {
        use zorb::Interface;
        root.context().as_object().orb().object(zorb::Ior::NIL)
    });
    match rebind {
        true => root.rebind(name, &object).await,
        false => root.bind(name, &object).await,
    }
}
