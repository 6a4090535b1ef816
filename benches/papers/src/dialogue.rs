//! Questions on standard input, answers on standard output, a line each.
//!
//! A program is started once and asked for one point after the other, so that the asking program can
//! put the points of all programs in any order.

use serde::Serialize;
use std::io::{self, BufRead, Write};
use zorb_floor::report::Line;

/// An error of a program, printed for the person at its terminal.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Answers every line, its words given to `answer`, by a line of JSON, until there are no more.
///
/// A question that has no answer is answered by `{"error": "…"}`, and the next one is read.
///
/// # Errors
/// Standard input or output fails, or an answer cannot be written as JSON.
pub fn run<A: Serialize>(
    mut answer: impl FnMut(&[&str]) -> Result<A, String>,
) -> Result<(), io::Error> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match answer(&words) {
            Ok(answer) => serde_json::to_writer(&mut out, &answer)?,
            Err(error) => serde_json::to_writer(&mut out, &Refusal { error })?,
        }
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

/// The words of the next question, for those who cannot answer within a closure; `None` at the end of the input.
///
/// Blocks the thread until there is one.
///
/// # Errors
/// Returns the errors of standard input.
pub fn next() -> io::Result<Option<Vec<String>>> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(line.split_whitespace().map(str::to_owned).collect()))
}

/// Answers it by what was measured.
///
/// # Errors
/// Returns the errors of standard output.
pub fn answer(line: &Line) -> io::Result<()> {
    say(&line.to_json())
}

/// Answers it by what was measured, or by why it was not.
///
/// # Errors
/// Returns the errors of standard output, or the answer cannot be written as JSON.
pub fn answer_or_refuse(measured: Result<impl Serialize, Failure>) -> io::Result<()> {
    let json = match measured {
        Ok(answer) => serde_json::to_string(&answer),
        Err(why) => serde_json::to_string(&Refusal {
            error: format!("{why:#}"),
        }),
    };
    say(&json?)
}

/// Says any line of JSON.
///
/// # Errors
/// Returns the errors of standard output.
pub fn say(json: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{json}")?;
    out.flush()
}

/// The value that a word stands for.
///
/// # Errors
/// It stands for nothing of the kind, or there is no such word.
pub fn word<T: std::str::FromStr>(words: &[String], at: usize) -> Result<T, Failure> {
    let word = words.get(at).ok_or("a word is missing")?;
    word.parse()
        .map_err(|_| format!("not understood: {word}").into())
}

#[derive(Serialize)]
struct Refusal {
    error: String,
}

/// The number that a word is.
///
/// # Errors
/// It is none, or there is no such word.
pub fn number(words: &[&str], at: usize) -> Result<usize, String> {
    let word = words.get(at).ok_or("a word is missing")?;
    word.parse().map_err(|_| format!("not a number: {word}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_what_it_stands_for() {
        let words = ["octets".to_owned(), "17".to_owned()];
        assert_eq!(word::<usize>(&words, 1).unwrap(), 17);
        assert!(word::<usize>(&words, 0).is_err());
        assert!(word::<usize>(&words, 2).is_err());
    }
}
