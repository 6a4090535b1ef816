//! Who may do what: a file of rules, a line each.

use std::path::Path;
use zorb::permissions::{OperationRule, OperationRules};
use zorb::transport::Rule;
use zorb_named::ITERATORS_POA;

/// What looks at names.
const READ: [&str; 6] = [
    "resolve",
    "resolve_str",
    "list",
    "to_string",
    "to_name",
    "to_url",
];
/// What changes them.
const WRITE: [&str; 8] = [
    "bind",
    "rebind",
    "bind_context",
    "rebind_context",
    "new_context",
    "bind_new_context",
    "unbind",
    "destroy",
];

/// Reads the rules of a file.
///
/// # Errors
/// It cannot be read, or a line is no rule, with its number.
pub(crate) fn read(file: &Path) -> Result<OperationRules, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let rules = parse(&text).map_err(|why| format!("{shown}:{why}"))?;
    // Each request leaves a record, where RUST_LOG asks for it.
    Ok(OperationRules::new(rules)
        .audit(|record| tracing::info!(target: "zorb_named::audit", "{record}")))
}

fn parse(text: &str) -> Result<Vec<OperationRule>, String> {
    let mut rules = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first().is_none_or(|word| word.starts_with('#')) {
            continue;
        }
        let wrong = |why: &str| format!("{number}: {why}: {line:?}");
        let [verb, what, who @ ..] = words.as_slice() else {
            return Err(wrong(
                "expected allow or deny, read, write or all, and a client",
            ));
        };
        let new = match *verb {
            "allow" => OperationRule::allow,
            "deny" => OperationRule::deny,
            _ => return Err(wrong("expected allow or deny")),
        };
        let client = match who {
            [] => None,
            ["network", mask] => {
                let rule = Rule::allow().network(mask);
                Some(rule.map_err(|error| wrong(&error.to_string()))?)
            }
            ["user", id] => {
                let id = id
                    .parse()
                    .map_err(|_| wrong("expected the number of a user"))?;
                Some(Rule::allow().user(id))
            }
            // Subjects have spaces.
            ["certificate", name @ ..] if !name.is_empty() => {
                Some(Rule::allow().certificate(name.join(" ")))
            }
            _ => return Err(wrong("expected network MASK, user ID or certificate NAME")),
        };
        let of = |rule: OperationRule| match &client {
            Some(client) => rule.of(client.clone()),
            None => rule,
        };
        match *what {
            "all" => rules.push(of(new())),
            "read" => {
                // An iterator's operations have names of their own, and one of a context's.
                rules.push(of(new()).adapter([ITERATORS_POA]));
                rules.push(of(new()).operations(READ));
            }
            "write" => rules.push(of(new()).operations(WRITE)),
            _ => return Err(wrong("expected read, write or all")),
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_rule_is_named() {
        let good = "# who\n\nallow all user 0\nallow all certificate CN=Ann Lee,O=Bank\n  deny write network 10.0.0.0/8\nallow read\n";
        assert_eq!(parse(good).unwrap().len(), 5);
        for (bad, said) in [
            ("allow", "1: expected allow or deny, read"),
            ("\npermit all", "2: expected allow or deny:"),
            ("allow resolve", "1: expected read, write or all"),
            ("allow all user ann", "1: expected the number"),
            ("allow all certificate", "1: expected network"),
            ("allow all network 10.0.0.0/99", "1: "),
        ] {
            let why = parse(bad).unwrap_err();
            assert!(why.starts_with(said), "{why}");
        }
    }
}
