//! Comments of IDL as text of rustdoc.
//!
//! A comment is plain text, or has the commands of Doxygen and JavaDoc. Commands that rustdoc has a form for are
//! translated, those that arrange a manual are dropped, and unknown ones are text. No section is enabled, as by default: the text
//! of `@if` and `@cond` is dropped, and that of `@else` kept. All else is escaped: rustdoc would resolve links, refuse
//! tags, and run code blocks as tests.

/// What a command becomes.
#[derive(Clone, Copy)]
enum Command {
    /// Nothing: the command alone is dropped.
    Nothing,
    /// Nothing, and a paragraph begins.
    Paragraph,
    /// Nothing, with the next word.
    Word,
    /// Nothing, with the rest of its line.
    Line,
    /// A paragraph that begins with this word.
    Label(&'static str),
    /// A paragraph that begins with this word and a name.
    Named(&'static str),
    /// An item of a list, with a name.
    Parameter,
    /// An item of a list.
    Item,
    /// The next word, between these marks.
    Marked(&'static str),
    /// A reference: the next word, or the text in quotes behind it.
    Reference,
    /// The rest of the line as a title; with the name before it dropped.
    Title(bool),
    /// A line break.
    Break,
    /// Text as it stands, up to the command of this name.
    Verbatim(&'static str),
    /// Text that is dropped, up to the command of this name.
    Dropped(&'static str),
    /// A formula, up to the command of this name.
    Formula(&'static str),
    /// The next character, which begins no command.
    Literal,
    /// A condition, with its value.
    If(bool),
    ElseIf,
    Else,
    EndIf,
}

static COMMANDS: phf::Map<&'static str, Command> = phf::phf_map! {
    "brief" | "short" | "details" => Command::Paragraph,
    "internal" | "endinternal" | "endlink" | "hideinitializer" | "showinitializer" | "callgraph" | "callergraph" | "public"
    | "private" | "protected" | "static" | "pure" | "nosubgrouping" | "parblock" | "endparblock" | "inheritDoc" | "overload" => {
        Command::Nothing
    },
    "link" | "anchor" => Command::Word,
    "file" | "defgroup" | "addtogroup" | "weakgroup" | "ingroup" | "name" | "class" | "interface" | "struct" | "union" | "enum"
    | "fn" | "typedef" | "var" | "def" | "namespace" | "package" | "mainpage" | "page" | "subpage" | "tableofcontents" | "image"
    | "include" | "dontinclude" | "snippet" | "example" | "copydoc" | "copybrief" | "copydetails" | "relates" | "relatesalso"
    | "related" | "memberof" | "headerfile" | "dir" | "idlexcept" | "property" | "module" | "exceptions" | "category" | "protocol"
    | "extends" | "implements" | "dotfile" | "mscfile" | "diafile" | "plantumlfile" | "skip" | "skipline" | "until" | "line"
    | "verbinclude" | "htmlinclude" | "latexinclude" | "showdate" | "vhdlflow" | "secreflist" | "endsecreflist" | "refitem" => {
        Command::Line
    },
    "return" | "returns" | "result" => Command::Label("Returns"),
    "note" => Command::Label("Note"),
    "remark" | "remarks" => Command::Label("Remark"),
    "warning" | "attention" => Command::Label("Warning"),
    "pre" => Command::Label("Precondition"),
    "post" => Command::Label("Postcondition"),
    "invariant" => Command::Label("Invariant"),
    "todo" => Command::Label("To do"),
    "bug" => Command::Label("Bug"),
    "test" => Command::Label("Test"),
    "deprecated" => Command::Label("Deprecated"),
    "since" => Command::Label("Since"),
    "version" => Command::Label("Version"),
    "author" | "authors" => Command::Label("Author"),
    "date" => Command::Label("Date"),
    "copyright" => Command::Label("Copyright"),
    "see" | "sa" => Command::Label("See"),
    "throw" | "throws" | "exception" | "raises" => Command::Named("Raises"),
    "retval" => Command::Named("Returns"),
    "param" | "tparam" => Command::Parameter,
    "li" | "arg" => Command::Item,
    "c" | "p" => Command::Marked("`"),
    "a" | "e" | "em" => Command::Marked("*"),
    "b" => Command::Marked("**"),
    "ref" | "cite" | "xrefitem" => Command::Reference,
    "par" => Command::Title(false),
    "section" | "subsection" | "subsubsection" | "paragraph" => Command::Title(true),
    "n" => Command::Break,
    "code" => Command::Verbatim("endcode"),
    "verbatim" => Command::Verbatim("endverbatim"),
    "dot" => Command::Dropped("enddot"),
    "msc" => Command::Dropped("endmsc"),
    "startuml" => Command::Dropped("enduml"),
    "htmlonly" => Command::Dropped("endhtmlonly"),
    "latexonly" => Command::Dropped("endlatexonly"),
    "manonly" => Command::Dropped("endmanonly"),
    "rtfonly" => Command::Dropped("endrtfonly"),
    "xmlonly" => Command::Dropped("endxmlonly"),
    "docbookonly" => Command::Dropped("enddocbookonly"),
    "if" | "cond" => Command::If(false),
    "elseif" => Command::ElseIf,
    "ifnot" => Command::If(true),
    "else" => Command::Else,
    "endif" | "endcond" => Command::EndIf,
};

/// The text of a comment as rustdoc reads it, each line behind a blank; empty if nothing of it is for readers.
pub(super) fn markdown(comment: &str) -> String {
    let mut writer = Writer::default();
    let mut lines = comment.lines();
    while let Some(line) = lines.next() {
        writer.line(line.trim(), &mut lines);
    }
    writer.finish()
}

/// The text of a comment in one line.
pub(super) fn one_line(comment: &str) -> String {
    let text = markdown(comment);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Writer {
    out: Vec<String>,
    /// What the line that is being read has become so far.
    made: String,
    /// Whether the last line is of an item of a list.
    in_item: bool,
    /// For each open condition: whether its text is kept, and whether that of one of its branches was.
    conditions: Vec<(bool, bool)>,
}

impl Writer {
    fn line<'c>(&mut self, line: &'c str, lines: &mut impl Iterator<Item = &'c str>) {
        if line.is_empty() {
            return self.paragraph();
        }
        let mut rest = line;
        // Whether a word goes on, in which no command begins.
        let mut in_word = false;
        while let Some(c) = rest.chars().next() {
            if !in_word && let Some((text, behind)) = braced(rest) {
                if self.kept() {
                    self.made.push_str(&code(text));
                }
                rest = behind;
            } else if let Some((command, behind)) = command(rest)
                && (!in_word || (c == '\\' && matches!(command, Command::Literal)))
            {
                rest = self.command(command, behind, lines);
            } else {
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
                in_word = c.is_alphanumeric() || matches!(c, '_' | ':' | '\\' | '@' | '.');
                if self.kept() {
                    push(&mut self.made, c, rest);
                }
            }
        }
        self.end_line();
    }

    /// Handles a command, and returns what follows it.
    fn command<'c>(
        &mut self,
        command: Command,
        rest: &'c str,
        lines: &mut impl Iterator<Item = &'c str>,
    ) -> &'c str {
        match command {
            Command::If(value) => {
                self.conditions.push((value, value));
                return word(rest).1;
            }
            Command::ElseIf => {
                if let Some((kept, _)) = self.conditions.last_mut() {
                    *kept = false;
                }
                return word(rest).1;
            }
            Command::Else => {
                if let Some((kept, done)) = self.conditions.last_mut() {
                    (*kept, *done) = (!*done, true);
                }
                return rest;
            }
            Command::EndIf => {
                self.conditions.pop();
                return rest;
            }
            Command::Verbatim(end) | Command::Dropped(end) => {
                let (text, behind) = verbatim(rest, end, lines);
                if matches!(command, Command::Verbatim(_)) && self.kept() {
                    self.end_line();
                    self.block(&text);
                }
                return behind;
            }
            _ if !self.kept() => return rest,
            _ => {}
        }
        match command {
            Command::Word => word(rest).1,
            Command::Line => "",
            Command::Paragraph => {
                self.end_line();
                self.paragraph();
                rest
            }
            Command::Label(label) => {
                self.end_line();
                self.paragraph();
                self.label(label, rest)
            }
            Command::Named(label) => {
                let (name, rest) = word(rest);
                self.end_line();
                self.paragraph();
                self.label(&format!("{label} {}", code(name)), rest)
            }
            Command::Parameter => {
                let from = rest.trim_start();
                // Its direction, which IDL says itself.
                let direction = from.strip_prefix('[').and_then(|it| it.split_once(']'));
                let (name, rest) = word(direction.map_or(from, |(_, behind)| behind));
                self.end_line();
                self.item();
                self.label(
                    &code(name),
                    rest.trim_start().trim_start_matches(['-', ':']),
                )
            }
            Command::Item => {
                self.end_line();
                self.item();
                rest
            }
            Command::Marked(mark) => {
                let (name, behind) = word(rest);
                match mark {
                    "`" => self.made.push_str(&code(name)),
                    _ if name.is_empty() => {}
                    _ => self
                        .made
                        .push_str(&format!("{mark}{}{mark}", escaped(name))),
                }
                behind
            }
            Command::Reference => {
                let (name, behind) = word(rest);
                let quoted = behind.trim_start().strip_prefix('"');
                let (text, behind) = match quoted.and_then(|it| it.split_once('"')) {
                    Some((text, behind)) => (escaped(text), behind),
                    None => (code(name), behind),
                };
                self.made.push_str(&text);
                behind
            }
            Command::Title(named) => {
                let title = if named { word(rest).1 } else { rest }.trim();
                self.end_line();
                self.paragraph();
                if !title.is_empty() {
                    self.made = format!("**{}**", escaped(title));
                    self.end_line();
                    self.paragraph();
                }
                ""
            }
            Command::Break => {
                if !self.made.trim().is_empty() {
                    self.made.push('\\');
                }
                self.end_line();
                rest
            }
            Command::Formula(end) => {
                let closing = rest
                    .find(&format!("@{end}"))
                    .or_else(|| rest.find(&format!("\\{end}")));
                let (formula, behind) = closing.map_or((rest, ""), |at| {
                    (
                        rest.get(..at).unwrap_or_default(),
                        rest.get(at + 1 + end.len()..).unwrap_or_default(),
                    )
                });
                self.made.push_str(&code(formula.trim()));
                behind
            }
            Command::Literal => {
                let mut chars = rest.chars();
                if let Some(c) = chars.next() {
                    push(&mut self.made, c, chars.as_str());
                }
                chars.as_str()
            }
            _ => rest,
        }
    }

    /// Whether all open conditions keep their text.
    fn kept(&self) -> bool {
        self.conditions.iter().all(|(kept, _)| *kept)
    }

    /// Writes a label and a colon, and returns the text that follows it.
    fn label<'c>(&mut self, label: &str, rest: &'c str) -> &'c str {
        self.made = format!("{label}: ");
        rest.trim_start().trim_start_matches(':').trim_start()
    }

    /// Ends a line with what was made of it.
    fn end_line(&mut self) {
        let text = std::mem::take(&mut self.made);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match self.out.last_mut() {
            // An item without text so far.
            Some(last) if last == " -" => *last = format!(" - {text}"),
            _ if self.in_item => self.out.push(format!("   {text}")),
            _ => self.out.push(format!(" {text}")),
        }
    }

    /// Begins a paragraph.
    fn paragraph(&mut self) {
        self.in_item = false;
        if self.out.last().is_some_and(|last| !last.is_empty()) {
            self.out.push(String::new());
        }
    }

    /// Begins an item of a list.
    fn item(&mut self) {
        if !self.in_item {
            self.paragraph();
        }
        self.in_item = true;
        self.out.push(" -".to_owned());
    }

    /// Writes a block of text as it stands.
    fn block(&mut self, text: &[&str]) {
        let blank = |line: &str| line.trim().is_empty();
        let first = text.iter().position(|line| !blank(line));
        let last = text.iter().rposition(|line| !blank(line));
        let Some(text) = first
            .zip(last)
            .and_then(|(first, last)| text.get(first..=last))
        else {
            return;
        };
        let lines = text.iter().filter(|line| !blank(line));
        let indent = lines.map(|line| line.len() - line.trim_start().len()).min();
        // Longer than any within the text.
        let fence = text
            .iter()
            .map(|line| longest_fence(line))
            .max()
            .unwrap_or_default();
        let fence = "`".repeat(fence.max(2) + 1);
        self.paragraph();
        self.out.push(format!(" {fence}text"));
        for line in text {
            let line = line.get(indent.unwrap_or_default()..).unwrap_or_default();
            self.out.push(format!(" {line}").trim_end().to_owned());
        }
        self.out.push(format!(" {fence}"));
        self.paragraph();
    }

    fn finish(mut self) -> String {
        self.out.retain(|line| line != " -");
        while self.out.last().is_some_and(String::is_empty) {
            self.out.pop();
        }
        self.out.join("\n")
    }
}

/// The command at the start of `text`, and what follows it.
fn command(text: &str) -> Option<(Command, &str)> {
    let rest = text.strip_prefix(['@', '\\'])?;
    let letters = rest.len()
        - rest
            .trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .len();
    let (name, behind) = rest.split_at_checked(letters)?;
    if name.is_empty() {
        let grouped = ["{", "}"].iter().find_map(|mark| rest.strip_prefix(mark));
        return match grouped {
            Some(behind) => Some((Command::Nothing, behind)),
            None => rest
                .starts_with(['@', '&', '$', '#', '<', '>', '%', '"'])
                .then_some((Command::Literal, rest)),
        };
    }
    if name == "f" {
        let (end, behind) = [("f$", "$"), ("f]", "[")]
            .iter()
            .find_map(|(end, mark)| Some((*end, behind.strip_prefix(mark)?)))?;
        return Some((Command::Formula(end), behind));
    }
    if behind.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let command = *COMMANDS.get(name)?;
    let fits = match command {
        // `\n` within a line is an escape of C that the comment speaks about.
        Command::Break => behind.is_empty(),
        Command::Marked(_) => behind.starts_with(' ') && !word(behind).0.is_empty(),
        _ => true,
    };
    fits.then_some((command, behind))
}

/// The content of a JavaDoc command in braces at the start of `text`, such as `{@code x}`, and what follows it.
fn braced(text: &str) -> Option<(&str, &str)> {
    let (inside, behind) = text.strip_prefix("{@")?.split_once('}')?;
    let (name, content) = inside.split_once(char::is_whitespace)?;
    ["code", "link", "linkplain", "literal", "value"]
        .contains(&name)
        .then_some((content.trim(), behind))
}

/// The next word of `text` without the punctuation behind it, and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let word = text.get(..end).unwrap_or_default();
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '}']);
    text.split_at_checked(word.len()).unwrap_or_default()
}

/// The lines up to the command `end`, and what follows it.
fn verbatim<'c>(
    rest: &'c str,
    end: &str,
    lines: &mut impl Iterator<Item = &'c str>,
) -> (Vec<&'c str>, &'c str) {
    let ends = [format!("@{end}"), format!("\\{end}")];
    // `@code{.idl}` names the language.
    let language = rest.strip_prefix('{').and_then(|it| it.split_once('}'));
    let mut line = Some(language.map_or(rest, |(_, behind)| behind));
    let mut text = Vec::new();
    while let Some(here) = line {
        let found = ends.iter().find_map(|end| here.split_once(end.as_str()));
        if let Some((before, behind)) = found {
            text.push(before);
            return (text, behind);
        }
        text.push(here);
        line = lines.next();
    }
    (text, "")
}

/// The number of backquotes of the longest run in `line`.
fn longest_fence(line: &str) -> usize {
    let runs = line.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or_default()
}

/// `text` as code.
fn code(text: &str) -> String {
    match text.contains('`') || text.is_empty() {
        true => escaped(text),
        false => format!("`{text}`"),
    }
}

/// `text` without anything that Markdown has a meaning for.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        push(&mut out, c, chars.as_str());
    }
    out
}

/// Appends a character of the text to a line, before `rest`, escaped if Markdown would have a meaning for it.
fn push(line: &mut String, c: char, rest: &str) {
    let before = line.trim_start();
    let special = match c {
        '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' => true,
        '#' | '+' | '-' | '=' => before.is_empty(),
        '.' | ')' => !before.is_empty() && before.bytes().all(|octet| octet.is_ascii_digit()),
        _ => false,
    };
    if special {
        line.push('\\');
    }
    match c {
        // Rustdoc's lint on bare addresses does not find an address whose colon is an entity.
        ':' if rest.starts_with("//") => line.push_str("&#58;"),
        _ => line.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_do_not_turn_into_markdown() {
        for (comment, expected) in [
            ("sees [x] and <T>", " sees \\[x\\] and \\<T\\>"),
            ("- one\n    code()", " \\- one\n code()"),
            ("1. one", " 1\\. one"),
            ("http://a.b/c_d", " http&#58;//a.b/c\\_d"),
            ("#1\n\n\nthen", " \\#1\n\n then"),
            (
                "C:\\temp\\note ends in \\n, a@param.b, @key",
                " C:\\\\temp\\\\note ends in \\\\n, a@param.b, @key",
            ),
        ] {
            assert_eq!(markdown(comment), expected, "{comment}");
        }
    }

    #[test]
    fn commands_of_doxygen_are_translated_or_dropped() {
        for (comment, expected) in [
            ("@brief Opens it.\n\nMore.", " Opens it.\n\n More."),
            ("\\brief Opens it. @internal", " Opens it."),
            (
                "Opens.\n@param[in] name its name\n  of [old]\n@param kind - the kind\n@return true if open",
                " Opens.\n\n - `name`: its name\n   of \\[old\\]\n - `kind`: the kind\n\n Returns: true if open",
            ),
            (
                "@throws NotFound, if none.\n@exception A::B",
                " Raises `NotFound`: , if none.\n\n Raises `A::B`:",
            ),
            (
                "@retval 0 fine\n@retval 1 not",
                " Returns `0`: fine\n\n Returns `1`: not",
            ),
            (
                "see \\c NULL, @p x_1 and @a all @b of @em it.",
                " see `NULL`, `x_1` and *all* **of** *it*.",
            ),
            (
                "@if jp\nnihongo @c x\n@else\nEnglish\n@endif\nboth",
                " English\n both",
            ),
            (
                "@ifnot A\nkept\n@elseif B\nno\n@else\nno\n@endif\n@cond X\nno @code\n no\n@endcode no\n@endcond\nend",
                " kept\n end",
            ),
            (
                "@code{.idl}\n  interface A {\n    B<C> f();\n  };\n@endcode\nthen",
                " ```text\n interface A {\n   B<C> f();\n };\n ```\n\n then",
            ),
            (
                "@verbatim a ``` b @endverbatim",
                " ````text\n a ``` b\n ````",
            ),
            ("@htmlonly <b> @endhtmlonly x", " x"),
            ("@file a.idl\n@ingroup G\n@{ @}\n@class X x.h", ""),
            (
                "@li one\n@li two\n@note That.\n@see other()",
                " - one\n - two\n\n Note: That.\n\n See: other()",
            ),
            (
                "@par Title\nText\n@section id A [b]\nmore",
                " **Title**\n\n Text\n\n **A \\[b\\]**\n\n more",
            ),
            (
                "a @ref B and @ref C \"the C\" by @link D the D @endlink {@link E#f} {@code g<h>}",
                " a `B` and the C by  the D  `E#f` `g<h>`",
            ),
            (
                "at \\@param, 5\\% \\<b\\> is @f$ a_1 < b @f$ \\f[x\\f]",
                " at @param, 5% \\<b\\> is `a_1 < b` `x`",
            ),
            ("a @n\nb \\n\nc", " a \\\n b \\\n c"),
            ("@code\nnever closed [", " ```text\n never closed [\n ```"),
            ("@deprecated: gone", " Deprecated: gone"),
        ] {
            assert_eq!(markdown(comment), expected, "{comment}");
        }
        assert_eq!(one_line("@brief What\nit @c is"), "What it `is`");
    }

    proptest! {
        #[test]
        fn nothing_but_code_is_left_unescaped(words in prop::collection::vec(
            prop_oneof![
                prop::sample::select(COMMANDS.keys().map(|name| format!("@{name}")).collect::<Vec<_>>()),
                prop::sample::select(vec!["@end", "\\c", "[x]", "<T>", "`", "```", "_a_", "*", "\n", "\n\n", "- x", "@f$", "{@code", "}", "\""]).prop_map(str::to_owned),
            ], 0..20))
        {
            let made = markdown(&words.join(" "));
            let mut fence: Option<String> = None;
            for line in made.lines() {
                let line = line.trim_start();
                let ticks = line.len() - line.trim_start_matches('`').len();
                match &fence {
                    Some(open) if *line == **open => fence = None,
                    Some(_) => continue,
                    None if ticks >= 3 => fence = Some("`".repeat(ticks)),
                    None => {
                        let (mut in_code, mut escaped) = (false, false);
                        for c in line.chars() {
                            prop_assert!(in_code || escaped || !matches!(c, '[' | '<' | ']' | '>'), "{}", made);
                            in_code ^= c == '`' && (in_code || !escaped);
                            escaped = c == '\\' && !escaped && !in_code;
                        }
                        prop_assert!(!in_code, "{}", made);
                    }
                }
            }
            prop_assert!(fence.is_none(), "{}", made);
        }
    }
}
