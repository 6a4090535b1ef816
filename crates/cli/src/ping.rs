//! `zorb ping`: checks whether an object exists, and measures the time of a call.

use crate::argument::{Argument, host_port};
use crate::orb::{Certificates, Environment, duration, endpoints_text, shut_down};
use crate::paint::Clean;
use crate::why;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use zorb::{Builder, Error, Ior, ObjectRef, SystemException, SystemExceptionKind};

/// Test whether an object exists
///
/// Connects and calls _non_existent, several times, and prints the server's address and the time it took. A failure is
/// reported with its cause.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PingOptions {
    /// An object URL (IOR:, corbaloc:, corbaname:, file:), or a file with one in it
    #[arg(value_name = "REF")]
    reference: String,
    /// Number of calls; 0: until interrupted
    #[arg(short = 'c', long, default_value_t = 3, value_name = "N")]
    count: u32,
    /// Time between two calls
    #[arg(short, long, default_value = "1s", value_parser = duration, value_name = "TIME")]
    interval: Duration,
    /// Time limit of a call: 500ms, 5s, 2m
    #[arg(short = 'W', long, default_value = "5s", value_parser = duration, value_name = "TIME")]
    timeout: Duration,
    /// Send a LocateRequest in place of a call
    #[arg(long, conflicts_with = "is_a")]
    locate: bool,
    #[command(flatten)]
    certificates: Certificates,
    /// Test whether the server is ready: ask a health object (zorb::health), as corbaloc:iiop:1.2@HOST:PORT/Health
    #[arg(long, conflicts_with_all = ["is_a", "locate"])]
    ready: bool,
    /// Test whether the object implements the interface with this repository id (_is_a)
    #[arg(long, value_name = "REPO_ID")]
    is_a: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  zorb ping account.ior
  zorb ping -c 1 --timeout 500ms corbaloc:iiop:1.2@server:2810/Bank && echo up
  zorb ping --is-a IDL:Bank/Account:1.0 corbaname::nameserver#bank/account
  zorb ping --ready -c 1 corbaloc:iiop:1.2@server:2810/Health
  zorb ping --tls ca.pem corbaloc:ssliop:server:2810/Bank
  zorb ping --trace -c 1 corbaloc::localhost/NameService

Exit status: 0 if the object answered every call (with --is-a: that it implements the interface; with --ready: that
the server is ready); 3 if every call was answered, but by no: the object does not exist, does not implement the
interface, or is not ready;
1 if a call failed; 2 for wrong usage.";

/// The exit status when every call was answered, and not all by yes.
const ANSWERED_NO: u8 = 3;

/// The output for an object that does not exist.
const NOT_EXIST: &str = "OBJECT_NOT_EXIST";

/// The result of one ping.
enum Outcome {
    There,
    /// A server answers, but the object does not exist or raises an exception.
    NotThere(String),
    Failed(SystemException),
}

pub(crate) async fn run(
    options: &PingOptions,
    builder: Builder,
    environment: &Environment,
) -> std::io::Result<ExitCode> {
    let url = match Argument::url(&options.reference) {
        Ok(url) => url,
        Err(error) => {
            let hint = host_port(&options.reference).map(|address| {
                format!("an object at that address is corbaloc:iiop:1.2@{address}/KEY")
            });
            return failed(&error, hint.as_deref(), environment);
        }
    };
    let builder = options.certificates.of(builder);
    let orb = match environment.orb(builder, options.timeout).build().await {
        Ok(orb) => orb,
        Err(error) => return failed(&format_args!("{error:#}"), None, environment),
    };
    let done = match orb.string_to_object(&url).await {
        Ok(object) => ping(options, object, environment).await,
        Err(error) => {
            let hint = match &error {
                Error::System(exception) => why::hint(exception),
                _ => None,
            };
            failed(&format_args!("{error:#}"), hint, environment)
        }
    };
    shut_down(&orb).await;
    done
}

/// Prints why the reference cannot be pinged.
fn failed(
    error: &dyn std::fmt::Display,
    hint: Option<&str>,
    environment: &Environment,
) -> std::io::Result<ExitCode> {
    let mut out = anstream::stdout();
    let (bad, pale) = (environment.paint.bad, environment.paint.pale);
    writeln!(out, "{bad}failed{bad:#}  {}", Clean(error))?;
    if let Some(hint) = hint {
        writeln!(out, "        {pale}{}{pale:#}", Clean(hint))?;
    }
    Ok(ExitCode::FAILURE)
}

async fn ping(
    options: &PingOptions,
    object: ObjectRef,
    environment: &Environment,
) -> std::io::Result<ExitCode> {
    let paint = &environment.paint;
    let (good, bad, pale, title) = (paint.good, paint.bad, paint.pale, paint.title);
    let mut out = anstream::stdout();
    let type_id = match object.type_id() {
        "" => "an object of unknown type",
        id => id,
    };
    let places = endpoints_text(object.ior());
    writeln!(
        out,
        "{title}{}{title:#} at {}",
        Clean(type_id),
        Clean(places)
    )?;
    // Discard replies of the naming service.
    environment.replies.take();
    let asked = without_type(&object);

    let mut times = Vec::new();
    let mut noes = 0;
    let mut exceptions = 0;
    let mut number = 0;
    loop {
        number += 1;
        let begun = Instant::now();
        let outcome = tokio::select! {
            outcome = ask(options, &asked) => outcome,
            _ = tokio::signal::ctrl_c() => { number -= 1; break }
        };
        let took = begun.elapsed();
        let answers = environment.replies.take();
        let mut from = String::new();
        for answer in &answers {
            if let Some(forward) = &answer.forward {
                writeln!(
                    out,
                    "{number:>3}  forwarded by {} to {}",
                    Clean(&answer.peer),
                    Clean(forward)
                )?;
            } else {
                from = format!(" from {}", Clean(&answer.peer));
            }
        }
        let millis = millis(took);
        match outcome {
            Outcome::There => {
                times.push(took);
                let is = match (&options.is_a, options.ready) {
                    (Some(_), _) => "yes",
                    (None, true) => "ready",
                    (None, false) => "there",
                };
                writeln!(out, "{number:>3}  {good}{is}{good:#}{from}  {millis}")?;
            }
            Outcome::NotThere(what) => {
                noes += 1;
                writeln!(out, "{number:>3}  {bad}{what}{bad:#}{from}  {millis}")?;
                if options.is_a.is_none() && !options.ready || what == NOT_EXIST {
                    writeln!(out, "     {pale}{}{pale:#}", why::GONE)?;
                }
            }
            Outcome::Failed(exception) => {
                let answered = why::is_answer(&exception, !from.is_empty());
                exceptions += u32::from(answered);
                let how = if answered { "answered" } else { "failed" };
                writeln!(
                    out,
                    "{number:>3}  {bad}{how}{bad:#}{from}  {millis}: {}",
                    Clean(format_args!("{exception:#}"))
                )?;
                if let Some(hint) = why::hint(&exception) {
                    writeln!(out, "     {pale}{hint}{pale:#}")?;
                }
            }
        }
        if number == options.count {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(options.interval) => {}
            _ = tokio::signal::ctrl_c() => break,
        }
    }
    let count = Count {
        asked: number,
        yes: u32::try_from(times.len()).unwrap_or(u32::MAX),
        no: noes,
        exceptions,
    };
    let yes = match options.ready {
        true => "ready",
        false => options.is_a.as_ref().map_or("there", |_| "yes"),
    };
    count.write(&mut out, yes, &times)?;
    Ok(ExitCode::from(count.status()))
}

/// The answers to all calls.
struct Count {
    asked: u32,
    /// That the object is there, or implements the interface.
    yes: u32,
    /// That it is not, or does not.
    no: u32,
    /// Exceptions of the server that say neither.
    exceptions: u32,
}

impl Count {
    fn status(&self) -> u8 {
        match self {
            Self { asked: 0, .. } => 1,
            Self { asked, yes, .. } if yes == asked => 0,
            Self { asked, yes, no, .. } if yes + no == *asked => ANSWERED_NO,
            _ => 1,
        }
    }

    fn write(
        &self,
        out: &mut dyn Write,
        affirmed: &str,
        times: &[Duration],
    ) -> std::io::Result<()> {
        let Self {
            asked,
            yes,
            no,
            exceptions,
        } = self;
        write!(out, "{asked} asked, {} answered", yes + no + exceptions)?;
        if no + exceptions > 0 {
            write!(out, ", {yes} {affirmed}")?;
        }
        write_times(out, times)?;
        writeln!(out)
    }
}

/// Returns the reference without its type, so that `_is_a` asks the server.
fn without_type(object: &ObjectRef) -> ObjectRef {
    object.orb().object(Ior {
        type_id: String::new(),
        profiles: object.ior().profiles.clone(),
    })
}

async fn ask(options: &PingOptions, object: &ObjectRef) -> Outcome {
    let gone = || Outcome::NotThere(NOT_EXIST.to_owned());
    let asked = match &options.is_a {
        Some(id) => object.is_a(id).await.map(|yes| match yes {
            true => Outcome::There,
            false => Outcome::NotThere(format!("no {id}")),
        }),
        None if options.ready => {
            let health: zorb::health::HealthRef = object.unchecked_narrow();
            health.ready().await.map(|yes| match yes {
                true => Outcome::There,
                false => Outcome::NotThere("not ready".to_owned()),
            })
        }
        None if options.locate => object.locate().await.map(|here| match here {
            true => Outcome::There,
            false => Outcome::NotThere("UNKNOWN_OBJECT".to_owned()),
        }),
        None => object.non_existent().await.map(|is_gone| match is_gone {
            false => Outcome::There,
            true => gone(),
        }),
    };
    match asked {
        Ok(outcome) => outcome,
        Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => gone(),
        Err(exception) => Outcome::Failed(exception),
    }
}

fn millis(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1000.0)
}

fn write_times(out: &mut dyn Write, times: &[Duration]) -> std::io::Result<()> {
    if let (Some(least), Some(most)) = (times.iter().min(), times.iter().max()) {
        let count = u32::try_from(times.len()).unwrap_or(u32::MAX);
        let mean = times.iter().sum::<Duration>() / count;
        let all = [least, &mean, most].map(|time| format!("{:.3}", time.as_secs_f64() * 1000.0));
        write!(out, "; round trip least/mean/most {} ms", all.join("/"))?;
    }
    Ok(())
}
