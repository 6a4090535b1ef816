//! Questions on standard input, answers on standard output, a line each.
//!
//! A program is started once and asked for one point after the other, so that whoever asks can
//! put the points of all programs in any order.

use serde::Serialize;
use std::io::{self, BufRead, Write};

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
