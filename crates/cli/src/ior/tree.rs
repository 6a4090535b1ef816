//! The description of a reference: a tree, written as text or as JSON.

use crate::paint::{Clean, Paint};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Octets in a row of a dump.
const ROW: usize = 16;
/// Rows of a dump that are shown; the rest is counted.
const MAX_ROWS: usize = 16;
/// The most columns to which labels are padded, so that the texts of siblings are aligned.
const MAX_LABEL: usize = 24;

/// One fact of a reference, with the facts that it consists of.
#[derive(Debug, Default)]
pub(crate) struct Item {
    /// The name in JSON.
    key: &'static str,
    /// Whether its siblings may have the same name, so that JSON has an array of them.
    is_element: bool,
    /// The label in text output.
    label: String,
    text: String,
    /// A technical name or number, shown in a pale colour.
    note: String,
    /// The value in JSON; `text` if null.
    json: Value,
    /// Fields for JSON only.
    more: Map<String, Value>,
    /// Malformed parts.
    faults: Vec<String>,
    /// Hints at legal parts that are probably mistakes.
    hints: Vec<String>,
    /// Octets to be shown as a dump.
    dump: Option<Vec<u8>>,
    items: Vec<Self>,
    /// Whether a blank line precedes it.
    is_section: bool,
}

impl Item {
    pub(crate) fn new(key: &'static str, label: impl Into<String>, text: impl ToString) -> Self {
        Self {
            key,
            label: label.into(),
            text: text.to_string(),
            ..Self::default()
        }
    }

    /// One of several siblings with the same key.
    pub(crate) fn element(
        key: &'static str,
        label: impl Into<String>,
        text: impl ToString,
    ) -> Self {
        Self {
            is_element: true,
            ..Self::new(key, label, text)
        }
    }

    pub(crate) fn section(mut self) -> Self {
        self.is_section = true;
        self
    }

    pub(crate) fn note(mut self, note: impl ToString) -> Self {
        self.note = note.to_string();
        self
    }

    pub(crate) fn json(mut self, value: impl Into<Value>) -> Self {
        self.json = value.into();
        self
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn dump(mut self, octets: &[u8]) -> Self {
        self.dump = Some(octets.to_vec());
        self
    }

    pub(crate) fn hint(mut self, hint: impl ToString) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    pub(crate) fn set_text(&mut self, text: impl ToString) {
        self.text = text.to_string();
    }

    pub(crate) fn set_json(&mut self, value: impl Into<Value>) {
        self.json = value.into();
    }

    pub(crate) fn push(&mut self, item: Self) {
        self.items.push(item);
    }

    pub(crate) fn fault(&mut self, fault: impl ToString) {
        self.faults.push(fault.to_string());
    }

    pub(crate) fn set_dump(&mut self, octets: &[u8]) {
        self.dump = Some(octets.to_vec());
    }

    /// Whether it is itself malformed.
    pub(crate) fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Whether it, or a fact within it, is malformed.
    pub(crate) fn is_malformed(&self) -> bool {
        !self.faults.is_empty() || self.items.iter().any(Self::is_malformed)
    }

    pub(crate) fn to_json(&self) -> Value {
        let own = match &self.json {
            Value::Null if self.text.is_empty() => Value::Null,
            Value::Null => Value::from(self.text.as_str()),
            own => own.clone(),
        };
        if self.items.is_empty()
            && self.more.is_empty()
            && self.faults.is_empty()
            && self.hints.is_empty()
            && self.dump.is_none()
        {
            return own;
        }
        let mut object = Map::new();
        if !own.is_null() {
            object.insert("value".to_owned(), own);
        }
        object.extend(self.more.clone());
        for item in &self.items {
            let value = item.to_json();
            match object.get_mut(item.key) {
                Some(Value::Array(all)) if item.is_element => all.push(value),
                _ => {
                    let value = if item.is_element {
                        Value::from(vec![value])
                    } else {
                        value
                    };
                    object.insert(item.key.to_owned(), value);
                }
            }
        }
        if let Some(octets) = &self.dump {
            object.insert("hex".to_owned(), Value::from(hex(octets)));
        }
        for (key, said) in [("malformed", &self.faults), ("hints", &self.hints)] {
            if !said.is_empty() {
                object.insert(key.to_owned(), Value::from(said.clone()));
            }
        }
        Value::Object(object)
    }

    /// Writes the tree.
    pub(crate) fn write(&self, out: &mut dyn Write, paint: &Paint) -> io::Result<()> {
        self.write_at(out, paint, 0, 0)
    }

    fn write_at(
        &self,
        out: &mut dyn Write,
        paint: &Paint,
        indent: usize,
        width: usize,
    ) -> io::Result<()> {
        if self.is_section {
            writeln!(out)?;
        }
        let (label, title) = (paint.label, paint.title);
        let style = if indent == 0 || self.is_section {
            title
        } else {
            label
        };
        write!(out, "{:indent$}{style}{}{style:#}", "", Clean(&self.label))?;
        if !self.text.is_empty() {
            let padding = width.saturating_sub(self.label.chars().count()) + 2;
            write!(out, "{:padding$}{}", "", Clean(&self.text))?;
        }
        if !self.note.is_empty() {
            let pale = paint.pale;
            write!(out, "  {pale}{}{pale:#}", Clean(&self.note))?;
        }
        writeln!(out)?;
        let inner = indent + 2;
        for fault in &self.faults {
            let bad = paint.bad;
            writeln!(out, "{:inner$}{bad}malformed:{bad:#} {}", "", Clean(fault))?;
        }
        for hint in &self.hints {
            let hinted = paint.hint;
            writeln!(out, "{:inner$}{hinted}note:{hinted:#} {}", "", Clean(hint))?;
        }
        if let Some(octets) = &self.dump {
            write_dump(out, paint, inner, octets)?;
        }
        let width = self
            .items
            .iter()
            .filter(|item| !item.text.is_empty())
            .map(|item| item.label.chars().count())
            .filter(|width| *width <= MAX_LABEL)
            .max()
            .unwrap_or(0);
        for item in &self.items {
            item.write_at(out, paint, inner, width)?;
        }
        Ok(())
    }
}

/// Rows of offset, octets and text.
fn write_dump(out: &mut dyn Write, paint: &Paint, indent: usize, octets: &[u8]) -> io::Result<()> {
    let pale = paint.pale;
    for (row, chunk) in octets.chunks(ROW).take(MAX_ROWS).enumerate() {
        let shown: Vec<String> = chunk.iter().map(|octet| format!("{octet:02x}")).collect();
        writeln!(
            out,
            "{:indent$}{pale}{:04x}{pale:#}  {:<47}  {pale}{}{pale:#}",
            "",
            row * ROW,
            shown.join(" "),
            plain(chunk)
        )?;
    }
    let rest = octets.len().saturating_sub(ROW * MAX_ROWS);
    if rest > 0 {
        writeln!(out, "{:indent$}{pale}… {rest} more octets{pale:#}", "")?;
    }
    Ok(())
}

fn plain(octets: &[u8]) -> String {
    octets
        .iter()
        .map(|octet| match octet {
            0x20..=0x7e => char::from(*octet),
            _ => '.',
        })
        .collect()
}

/// Pairs of digits.
pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Octets as text on one line, with unprintable ones escaped.
pub(crate) fn escaped(octets: &[u8]) -> String {
    octets.escape_ascii().to_string()
}
