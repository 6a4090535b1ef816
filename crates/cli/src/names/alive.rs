//! `zorb names ping`: which of the objects that are bound are there.

use super::walk::{AT_A_TIME, Bound, Walk};
use super::{Failure, Session};
use crate::orb::endpoints_text;
use crate::paint::Clean;
use crate::why;
use std::io::Write;
use std::process::ExitCode;
use tokio::task::JoinSet;
use zorb::naming::Name;
use zorb::{ObjectRef, SystemException, SystemExceptionKind};

/// The exit status when a name leads to no object that answers.
const STALE: u8 = 3;

/// The answer of a bound object.
enum Answer {
    There,
    /// Its server says that it does not exist.
    Gone,
    /// Its server answers, and not whether it exists.
    Answered(SystemException),
    /// It does not answer, which says nothing of tomorrow.
    Silent(SystemException),
}

struct Count {
    there: usize,
    gone: usize,
    silent: usize,
    answered: usize,
}

/// Asks every object whether it is there. Changes nothing.
pub(super) async fn ping(session: &Session<'_>) -> Result<ExitCode, Failure> {
    let mut tasks = JoinSet::new();
    let mut count = Count {
        there: 0,
        gone: 0,
        silent: 0,
        answered: 0,
    };
    Walk::new(&session.root)
        .await?
        .run(async |item| {
            let (Bound::Object(Some(object)) | Bound::ForeignContext(object)) = item.bound else {
                return Ok(());
            };
            while tasks.len() >= AT_A_TIME {
                show(session, &mut count, tasks.join_next().await)?;
            }
            tasks.spawn(async move {
                let answer = ask(&object).await;
                (item.name, object, answer)
            });
            Ok(())
        })
        .await?;
    while !tasks.is_empty() {
        show(session, &mut count, tasks.join_next().await)?;
    }
    let Count {
        there,
        gone,
        silent,
        answered,
    } = count;
    let asked: usize = [there, gone, silent, answered].iter().sum();
    let mut out = anstream::stdout();
    write!(
        out,
        "{asked} asked: {there} there, {gone} gone, {silent} silent"
    )?;
    if answered > 0 {
        write!(out, ", {answered} answered otherwise")?;
    }
    writeln!(out)?;
    Ok(match there == asked {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(STALE),
    })
}

async fn ask(object: &ObjectRef) -> Answer {
    match object.non_existent().await {
        Ok(false) => Answer::There,
        Ok(true) => Answer::Gone,
        Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => Answer::Gone,
        // Some servers do not know the operation; they answer.
        Err(exception) if exception.kind == SystemExceptionKind::BadOperation => Answer::There,
        Err(exception) if why::is_of_server(&exception) => Answer::Answered(exception),
        Err(exception) => Answer::Silent(exception),
    }
}

fn show(
    session: &Session<'_>,
    count: &mut Count,
    asked: Option<Result<(Name, ObjectRef, Answer), tokio::task::JoinError>>,
) -> Result<(), Failure> {
    let Some(asked) = asked else { return Ok(()) };
    let (name, object, answer) = asked.map_err(std::io::Error::other)?;
    let counter = match answer {
        Answer::There => &mut count.there,
        Answer::Gone => &mut count.gone,
        Answer::Silent(_) => &mut count.silent,
        Answer::Answered(_) => &mut count.answered,
    };
    *counter = counter.saturating_add(1);
    let bad = session.environment.paint.bad;
    let places = endpoints_text(object.ior());
    let mut out = anstream::stdout();
    match answer {
        Answer::There => {}
        Answer::Gone => writeln!(
            out,
            "{}  {bad}gone{bad:#}: {} says that it does not exist",
            Clean(name),
            Clean(places)
        )?,
        Answer::Answered(exception) => writeln!(
            out,
            "{}  {bad}answered{bad:#}: {}",
            Clean(name),
            Clean(format_args!("{exception:#}"))
        )?,
        Answer::Silent(exception) => writeln!(
            out,
            "{}  {bad}silent{bad:#}: {}",
            Clean(name),
            Clean(format_args!("{exception:#}"))
        )?,
    }
    Ok(())
}
