//! `zorb names`: lists and changes the bindings of a naming service.

mod alive;
mod omninames;
mod transfer;
mod walk;

use crate::argument::{Argument, host_port};
use crate::orb::{Certificates, Environment, duration, endpoints_text, shut_down};
use crate::paint::Clean;
use crate::why;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use zorb::naming::{Entry, Name, NamingClient, NamingError};
use zorb::{Builder, ObjectRef, Orb, SystemException};

/// The URL of the naming service by default.
const DEFAULT: &str = "corbaloc::localhost:2809/NameService";
/// The default naming service's endpoint as errors name it.
const DEFAULT_PLACE: &str = "iiop://localhost:2809";
/// The types of the contexts that services make.
const CONTEXTS: [&str; 2] = [
    "IDL:omg.org/CosNaming/NamingContext:1.0",
    "IDL:omg.org/CosNaming/NamingContextExt:1.0",
];
/// Levels of contexts within contexts that `list -r` lists.
const MAX_DEPTH: usize = 32;

/// Manage the names of a naming service
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NamesOptions {
    /// The naming service: an object URL or a file with one; the initial reference NameService unless given
    #[arg(
        short = 'n',
        long,
        global = true,
        value_name = "URL",
        env = "ZORB_NAMESERVICE"
    )]
    nameservice: Option<String>,
    /// Time limit of a call: 500ms, 5s, 2m
    #[arg(short = 'W', long, global = true, default_value = "10s", value_parser = duration, value_name = "TIME")]
    timeout: Duration,
    #[command(flatten)]
    certificates: Certificates,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the bindings of a context; names of contexts end in a slash
    #[command(alias = "ls")]
    List {
        /// The context; the root unless given
        #[arg(value_name = "NAME")]
        context: Option<String>,
        /// Show the endpoint and the interface of each binding
        #[arg(short, long)]
        long: bool,
        /// List the contexts within the context, too
        #[arg(short, long)]
        recursive: bool,
    },
    /// Show all names as a tree
    Tree {
        /// The context to begin at; the root unless given
        #[arg(value_name = "NAME")]
        context: Option<String>,
    },
    /// Ask every bound object whether it is there
    Ping,
    /// Write all names as lines of JSON
    Export,
    /// Bind all names of an export, of another naming service, or of omniNames' data file
    Import {
        /// A file, - for standard input, or the object URL of a naming service
        #[arg(value_name = "SOURCE")]
        source: String,
        /// Replace existing bindings
        #[arg(long)]
        rebind: bool,
    },
    /// Print the reference that is bound to a name
    Resolve {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Bind a name to an object
    Bind {
        #[arg(value_name = "NAME")]
        name: String,
        /// An object URL, or a file with one in it
        #[arg(value_name = "REF")]
        reference: String,
        /// Replace an existing binding
        #[arg(long)]
        rebind: bool,
        /// Create missing contexts of the name
        #[arg(short, long)]
        parents: bool,
        /// Bind the object as a context, through which names are resolved
        #[arg(long)]
        context: bool,
    },
    /// Remove a binding, and print the reference that was bound; the object remains
    Unbind {
        #[arg(value_name = "NAME")]
        name: String,
        /// Unbind a context although there are names in it
        #[arg(short, long)]
        force: bool,
    },
    /// Create a context and bind it
    #[command(alias = "bind_new_context")]
    Mkcontext {
        #[arg(value_name = "NAME")]
        name: String,
        /// Create missing contexts of the name; an existing context is no error
        #[arg(short, long)]
        parents: bool,
    },
    /// Destroy an empty context and remove its binding
    #[command(alias = "remove_context")]
    Rmcontext {
        #[arg(value_name = "NAME")]
        name: String,
    },
}

const EXAMPLES: &str = "\
Names are stringified names of the specification: components are separated by /, id and kind by a dot,
and \\ escapes a slash, dot or backslash.

Examples:
  zorb names list -r
  zorb names -n corbaloc:iiop:1.2@nameserver:2809/NameService list -l bank
  zorb names resolve bank/account.savings | zorb ior -
  zorb names bind --parents bank/account.savings account.ior
  zorb names -ORBInitRef NameService=file:///srv/ns.ior mkcontext bank
  zorb names -ORBdefaultCharCodeSet UTF-8 list    a JacORB service whose names are in UTF-8
  zorb names export > names.json
  zorb names import /var/lib/omniorb/omninames-HOST.dat
  zorb names import corbaloc::other:2809/NameService

Exit status: 0, or 1 with the cause on standard error; of ping 3 if an object does not exist, does not answer, or\nanswers by an exception.";

pub(crate) async fn run(
    options: &NamesOptions,
    builder: Builder,
    environment: &Environment,
) -> std::io::Result<ExitCode> {
    match call(options, builder, environment).await {
        Ok(code) => Ok(code),
        Err(Failure::Io(error)) => Err(error),
        Err(Failure::Said { what, hint }) => {
            let mut err = anstream::stderr();
            let (bad, pale) = (environment.paint.bad, environment.paint.pale);
            writeln!(err, "{bad}zorb names:{bad:#} {}", Clean(what))?;
            if let Some(hint) = hint {
                writeln!(err, "            {pale}{}{pale:#}", Clean(hint))?;
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn call(
    options: &NamesOptions,
    builder: Builder,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let orb = Session::orb(options, builder, environment).await?;
    let done = match Session::start(&orb, environment).await {
        Ok(session) => session.run(&options.command).await,
        Err(failure) => Err(failure),
    };
    shut_down(&orb).await;
    done
}

/// Why a command failed.
enum Failure {
    Io(std::io::Error),
    Said { what: String, hint: Option<String> },
}

impl Failure {
    /// Returns the failure with another hint added.
    fn and(self, more: &str) -> Self {
        match self {
            Self::Said { what, hint } => Self::Said {
                what,
                hint: Some(match hint {
                    Some(hint) => format!("{hint}; {more}"),
                    None => more.to_owned(),
                }),
            },
            io @ Self::Io(_) => io,
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<zorb::Error> for Failure {
    fn from(error: zorb::Error) -> Self {
        let hint = match &error {
            zorb::Error::System(exception) => why::hint(exception).map(str::to_owned),
            _ => None,
        };
        Self::Said {
            what: format!("{error:#}"),
            hint,
        }
    }
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        zorb::Error::System(exception).into()
    }
}

impl From<NamingError> for Failure {
    fn from(error: NamingError) -> Self {
        let hint = match &error {
            NamingError::NotFound { name, rest, .. } => {
                let bound = name.len().saturating_sub(rest.len());
                let above = Name(name.iter().take(bound).cloned().collect());
                let list = if bound == 0 {
                    "zorb names list".to_owned()
                } else {
                    format!("zorb names list {}", shell_word(&above))
                };
                Some(format!("`{list}` shows what is bound there"))
            }
            NamingError::AlreadyBound { .. } => Some("`zorb names bind --rebind` replaces what is bound".to_owned()),
            NamingError::NotEmpty { name } => {
                let name = name.as_ref().map(shell_word).unwrap_or_default();
                Some(format!("`zorb names list -r {name}` shows what is in it"))
            }
            NamingError::NotAContext { .. } => Some(
                "the naming service is at the URL that --nameservice or -ORBInitRef NameService= gives"
                    .to_owned(),
            ),
            error => error.system().and_then(why::hint).map(str::to_owned),
        };
        Self::Said {
            what: format!("{error:#}"),
            hint,
        }
    }
}

/// A name as a word of the shell, which takes backslashes between single quotes as they are.
fn shell_word(name: &Name) -> String {
    format!("'{}'", name.to_string().replace('\'', r"'\''"))
}

struct Session<'a> {
    environment: &'a Environment,
    orb: &'a Orb,
    root: NamingClient,
}

impl<'a> Session<'a> {
    async fn orb(
        options: &NamesOptions,
        builder: Builder,
        environment: &Environment,
    ) -> Result<Orb, Failure> {
        // The option of this program has precedence over settings of the ORB: an argument overrides the variable ORBInitRef,
        // and a later argument an earlier one.
        let builder = match &options.nameservice {
            Some(service) => {
                let url = Argument::url(service).map_err(|why| Failure::Said {
                    what: format!("argument --nameservice (or ZORB_NAMESERVICE): {why}"),
                    hint: host_port(service).map(|address| {
                        format!(
                            "a naming service at that address is corbaloc::{address}/NameService"
                        )
                    }),
                })?;
                builder.args(&mut vec![
                    "-ORBInitRef".to_owned(),
                    format!("NameService={url}"),
                ])
            }
            None => builder.initial_reference("NameService", DEFAULT),
        };
        let builder = options.certificates.of(builder);
        Ok(environment.orb(builder, options.timeout).build().await?)
    }

    async fn start(orb: &'a Orb, environment: &'a Environment) -> Result<Self, Failure> {
        let root = NamingClient::find(orb).await.map_err(|error| {
            let is_default = error.to_string().contains(DEFAULT_PLACE);
            let failure = Failure::from(error);
            if is_default {
                failure.and("--nameservice URL says where the naming service is")
            } else {
                failure
            }
        })?;
        Ok(Self {
            environment,
            orb,
            root,
        })
    }

    /// The context of a name; the root without one.
    async fn context(&self, name: Option<&str>) -> Result<NamingClient, Failure> {
        Ok(match name {
            None | Some("") => self.root.clone(),
            Some(name) => self.root.subcontext(name).await?,
        })
    }

    async fn run(&self, command: &Command) -> Result<ExitCode, Failure> {
        let done: Result<(), Failure> = match command {
            Command::Ping => return alive::ping(self).await,
            Command::Export => transfer::export(self).await,
            Command::Import { source, rebind } => transfer::import(self, source, *rebind).await,
            Command::Tree { context } => {
                let mut listing = Listing {
                    session: self,
                    long: false,
                    recursive: true,
                    drawn: true,
                    out: anstream::stdout(),
                    above: Vec::new(),
                    indent: Vec::new(),
                };
                listing.list(self.context(context.as_deref()).await?).await
            }
            Command::List {
                context,
                long,
                recursive,
            } => {
                let mut listing = Listing {
                    session: self,
                    long: *long,
                    recursive: *recursive,
                    drawn: false,
                    out: anstream::stdout(),
                    above: Vec::new(),
                    indent: Vec::new(),
                };
                listing.list(self.context(context.as_deref()).await?).await
            }
            Command::Resolve { name } => {
                let object: ObjectRef = self.root.resolve(name).await?;
                writeln!(anstream::stdout(), "{object}")?;
                Ok(())
            }
            Command::Bind {
                name,
                reference,
                rebind,
                parents,
                context,
            } => {
                let url =
                    Argument::url(reference).map_err(|what| Failure::Said { what, hint: None })?;
                let object = self.orb.string_to_object(&url).await?;
                let (at, last) = self.parent(name, *parents).await?;
                if *context {
                    let bound = NamingClient::at(&object).await?;
                    if *rebind {
                        at.rebind_context(&last, &bound).await?;
                    } else {
                        at.bind_context(&last, &bound).await?;
                    }
                } else if *rebind {
                    at.rebind(&last, &object).await?;
                } else {
                    at.bind(&last, &object).await?;
                }
                Ok(())
            }
            Command::Unbind { name, force } => self.unbind(name, *force).await,
            Command::Mkcontext { name, parents } => {
                if *parents {
                    self.root.make_contexts(name).await?;
                } else {
                    let (at, last) = self.parent(name, false).await?;
                    at.bind_new_context(&last).await?;
                }
                Ok(())
            }
            Command::Rmcontext { name } => Ok(self.root.remove_context(name).await?),
        };
        done.map(|()| ExitCode::SUCCESS)
    }

    /// Unbinds a name and prints what was bound. A context with names only by force: the names in it may have no other way to them.
    async fn unbind(&self, name: &str, force: bool) -> Result<(), Failure> {
        let object: Option<ObjectRef> = match self.root.resolve(name).await {
            Ok(object) => Some(object),
            Err(NamingError::Nil { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let is_context = |object: &&ObjectRef| CONTEXTS.contains(&object.type_id());
        if let Some(context) = object.as_ref().filter(is_context)
            && !force
        {
            let mut names = NamingClient::new(context.unchecked_narrow()).list();
            let first = names.next().await;
            names.close().await;
            // One that does not answer leads to no names.
            if matches!(first, Ok(Some(_))) {
                let list = format!("zorb names list -r '{}'", name.replace('\'', r"'\''"));
                return Err(Failure::Said {
                    what: format!("context \"{name}\" has names, which may be reached by it alone"),
                    hint: Some(format!(
                        "`{list}` shows them; --force unbinds it all the same"
                    )),
                });
            }
        }
        self.root.unbind(name).await?;
        if let Some(object) = object {
            writeln!(anstream::stdout(), "{object}")?;
        }
        Ok(())
    }

    /// The context in which a name is to be bound, and the rest of the name there. `parents`: whether missing contexts are
    /// made; otherwise they are an error.
    async fn parent(&self, name: &str, parents: bool) -> Result<(NamingClient, Name), Failure> {
        let name: Name = name.parse().map_err(|why| NamingError::InvalidName {
            name: name.to_owned(),
            why: Some(why),
        })?;
        match name.split_last() {
            Some((last, path)) if !parents && !path.is_empty() => {
                let context = self.root.subcontext(Name(path.to_vec())).await;
                let context = context.map_err(|error| match error {
                    NamingError::NotFound { .. } => {
                        Failure::from(error).and("--parents makes the contexts on the way")
                    }
                    error => error.into(),
                })?;
                Ok((context, Name(vec![last.clone()])))
            }
            _ => Ok((self.root.clone(), name)),
        }
    }
}

/// A running `list` or `tree`.
struct Listing<'a, W> {
    session: &'a Session<'a>,
    long: bool,
    recursive: bool,
    /// Whether lines show what is below what.
    drawn: bool,
    out: W,
    /// The enclosing contexts, as a context may be bound below itself.
    above: Vec<NamingClient>,
    /// What stands in front of the names below each enclosing context but the first.
    indent: Vec<&'static str>,
}

impl<W: Write> Listing<'_, W> {
    async fn list(&mut self, context: NamingClient) -> Result<(), Failure> {
        let mut entries = Vec::new();
        let mut bindings = context.list();
        while let Some(entry) = bindings.next().await? {
            entries.push(entry);
        }
        entries.sort_by_cached_key(|entry| entry.name.to_string());
        self.above.push(context);
        let last = entries.len().saturating_sub(1);
        for (at, entry) in entries.iter().enumerate() {
            self.entry(entry, at == last).await?;
        }
        self.above.pop();
        Ok(())
    }

    async fn entry(&mut self, entry: &Entry, is_last: bool) -> Result<(), Failure> {
        let paint = &self.session.environment.paint;
        let (title, pale) = (paint.title, paint.pale);
        let indent = self.indent.concat();
        let (branch, below_it) = match (self.drawn, is_last) {
            (false, _) => ("", "  "),
            (true, false) => ("├── ", "│   "),
            (true, true) => ("└── ", "    "),
        };
        if entry.is_context() {
            write!(
                self.out,
                "{indent}{branch}{title}{}{title:#}/",
                Clean(&entry.name)
            )?;
        } else {
            write!(self.out, "{indent}{branch}{}", Clean(&entry.name))?;
        }
        let mut below = None;
        if let Some(here) = self.above.last()
            && (self.long || (self.recursive && entry.is_context()))
        {
            match here.resolve::<ObjectRef>(&entry.name).await {
                Ok(object) => {
                    if self.long {
                        let what = match object.type_id() {
                            "" => "unknown type",
                            id => id,
                        };
                        let places = endpoints_text(object.ior());
                        write!(
                            self.out,
                            "  {}  {pale}{}{pale:#}",
                            Clean(what),
                            Clean(places)
                        )?;
                    }
                    below = Some(object).filter(|_| self.recursive && entry.is_context());
                }
                Err(error) => write!(self.out, "  {}", Clean(format_args!("{error:#}")))?,
            }
        }
        let Some(object) = below else {
            return Ok(writeln!(self.out)?);
        };
        let context = NamingClient::new(object.unchecked_narrow());
        if self.above.contains(&context) {
            return Ok(writeln!(self.out, "  {pale}is a context above{pale:#}")?);
        }
        if self.above.len() == MAX_DEPTH {
            return Ok(writeln!(self.out, "  {pale}not gone further down{pale:#}")?);
        }
        writeln!(self.out)?;
        self.indent.push(below_it);
        let listed = Box::pin(self.list(context)).await;
        self.indent.pop();
        // A context that cannot be listed does not end the listing of others.
        match listed {
            Err(Failure::Said { what, .. }) => {
                let bad = paint.bad;
                Ok(writeln!(
                    self.out,
                    "{indent}{below_it}{bad}{}{bad:#}",
                    Clean(what)
                )?)
            }
            done => done,
        }
    }
}
