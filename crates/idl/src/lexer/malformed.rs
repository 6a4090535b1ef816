//! Messages for malformed literals.

/// The message for `text`, which begins like a number and is not one. The message quotes it as `shown`.
pub(super) fn number(text: &str, shown: &str) -> String {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return if digits.is_empty() {
            format!("`{shown}` has no digits")
        } else if digits.bytes().all(|c| c.is_ascii_hexdigit()) {
            format!("`{shown}` is too large: a whole number has at most 64 bits")
        } else {
            format!("`{shown}` is no hexadecimal number")
        };
    }
    if is_digits(text) {
        return if text.starts_with('0') && text.contains(['8', '9']) {
            format!("`{shown}` is octal, as it begins with 0, and has digits that are not")
        } else {
            format!("`{shown}` is too large: a whole number has at most 64 bits")
        };
    }
    match text.split_once(['e', 'E']) {
        Some((number, exponent)) if is_digits(exponent) && is_digits(&number.replace('.', "")) => {
            format!("`{shown}` is too large for a floating-point number")
        }
        _ => format!("`{shown}` is no number, and no name as it begins with a digit"),
    }
}

/// The message for `text`, up to its closing quote or the end of its line, which is not a valid character or string.
/// `wide`: whether an `L` precedes it, which is not part of `text`.
pub(super) fn quoted(text: &str, wide: bool) -> String {
    let quote = if text.starts_with('"') { '"' } else { '\'' };
    let body = text.strip_prefix(quote).unwrap_or(text);
    let (body, closed) = match body.strip_suffix(quote) {
        Some(inner) if !ends_in_backslash(inner) => (inner, true),
        _ => (body, false),
    };
    if let Some(fault) = escape(body, wide) {
        return fault;
    }
    match (quote, closed) {
        ('"', _) => "this string literal is never closed: it ends where its line does".to_owned(),
        (_, false) => "this character literal is never closed".to_owned(),
        _ if body.is_empty() => "this character literal is empty".to_owned(),
        _ => "a character literal holds one character: a string stands in double quotes".to_owned(),
    }
}

/// Whether a quote after `text` is escaped.
fn ends_in_backslash(text: &str) -> bool {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// The message for the first malformed escape.
fn escape(body: &str, wide: bool) -> Option<String> {
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        let behind = &rest[at + 1..];
        let first = behind.chars().next()?;
        let run = |digit: fn(&char) -> bool, most: usize| -> String {
            behind
                .chars()
                .skip(usize::from(first == 'x' || first == 'u'))
                .take_while(digit)
                .take(most)
                .collect()
        };
        match first {
            'n' | 't' | 'v' | 'b' | 'r' | 'f' | 'a' | '\\' | '?' | '\'' | '"' => {}
            '0'..='7' => {
                let digits = run(|c| c.is_digit(8), 3);
                if u32::from_str_radix(&digits, 8).is_ok_and(|code| code > 0xff) && !wide {
                    return Some(format!(
                        "`\\{digits}` is more than an octet: the last is `\\377`"
                    ));
                }
            }
            'x' if run(char::is_ascii_hexdigit, 2).is_empty() => {
                return Some("`\\x` needs one or two hexadecimal digits".to_owned());
            }
            'x' => {}
            'u' if !wide => {
                return Some(
                    "`\\u` is for wide literals: put an `L` in front of the quotes".to_owned(),
                );
            }
            'u' => {
                let digits = run(char::is_ascii_hexdigit, 4);
                match u32::from_str_radix(&digits, 16) {
                    Ok(0xd800..0xdc00) if let Some(behind) = low_half(&behind[5..]) => {
                        rest = behind;
                        continue;
                    }
                    Ok(0xd800..0xe000) => {
                        return Some(format!(
                            "`\\u{digits}` is one half of a character, and needs the other"
                        ));
                    }
                    Ok(_) => {}
                    Err(_) => return Some("`\\u` needs one to four hexadecimal digits".to_owned()),
                }
            }
            other => {
                return Some(format!(
                    "`\\{}` is no escape that IDL knows",
                    other.escape_debug()
                ));
            }
        }
        rest = &behind[first.len_utf8()..];
    }
    None
}

/// The text after the escape of a low surrogate, if `text` begins with one.
fn low_half(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xdc00..0xe000).contains(&code).then(|| &text[6..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinguished() {
        for (text, says) in [
            ("0x", "no digits"),
            ("0x10000000000000000", "too large"),
            ("0xfg", "hexadecimal"),
            ("089", "octal"),
            ("99999999999999999999", "64 bits"),
            ("1e999", "floating-point"),
            ("1.5e999", "floating-point"),
            ("12abc", "no name"),
        ] {
            let found = number(text, text);
            assert!(found.contains(says), "{text}: {found}");
        }
    }

    #[test]
    fn quoted_literals_are_distinguished() {
        for (text, wide, says) in [
            ("''", false, "empty"),
            ("'ab'", false, "double quotes"),
            ("'a", false, "never closed"),
            ("\"a", false, "never closed"),
            ("\"a\\\"", false, "never closed"),
            ("'\\400'", false, "octet"),
            ("'\\u0041'", false, "wide literals"),
            ("'\\ud800'", true, "half"),
            ("\"\\x\"", true, "hexadecimal"),
            ("\"\\\\q\\q\"", true, "`\\q`"),
            ("'\\'", false, "never closed"),
        ] {
            let found = quoted(text, wide);
            assert!(found.contains(says), "{text}: {found}");
        }
    }
}
