//! The table of `-ORB…` options, which are read from the environment and from arguments.

mod option_error;

pub use option_error::OptionError;
pub(crate) use option_error::Source;

use crate::builder::Builder;
use core::time::Duration;
use option_error::{PREFIX, Problem};
use std::ffi::OsString;
use std::sync::Arc;
use zorb_cdr::CharSet;
use zorb_giop::Version;
use zorb_giop::url::ObjectUrl;
use zorb_transport::Rules;

/// Octets of a message that a trace of level 30 shows, as in omniORB.
const TRACED_OCTETS: usize = 128;
/// The supported code sets for `char` and `string`, for error texts.
const CHAR_SETS: &str = "UTF-8 or ISO-8859-1";

/// The form of a transport rule, for error texts.
const RULE: &str = "a mask and transports (* ssl,unix), several separated by semicolons";

/// One row of the table.
struct OptionSpec {
    /// The name of the option after `-ORB`.
    name: &'static str,
    /// The form of the value, for error texts.
    value: &'static str,
    /// Whether the environment variable may hold several values, separated by white space.
    several: bool,
    /// The list to which the option adds. It replaces the list of an earlier source.
    list: Option<List>,
    /// Applies the value, mostly by one method of the builder. The error is the reason why the value is invalid.
    set: fn(Builder, &str) -> Result<Builder, String>,
}

/// The group of settings that a source replaces as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Listen,
    Publish,
}

/// All options.
const OPTIONS: [OptionSpec; 18] = [
    OptionSpec {
        name: "InitRef",
        value: "NAME=URL",
        several: true,
        list: None,
        set: |builder, text| {
            let (name, url) = text
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| expected("NAME=URL", text))?;
            url.parse::<ObjectUrl>()
                .map_err(|error| error.to_string())?;
            Ok(builder.initial_reference(name, url))
        },
    },
    OptionSpec {
        name: "DefaultInitRef",
        value: "the beginning of a corbaloc: or corbaname: URL",
        several: false,
        list: None,
        set: |builder, text| Ok(builder.default_initial_reference(text)),
    },
    OptionSpec {
        name: "ListenEndpoints",
        value: "iiop://host:port or uiop:///path, several separated by semicolons",
        several: true,
        list: Some(List::Listen),
        set: |builder, text| {
            let endpoints = text.split(';').filter(|endpoint| !endpoint.is_empty());
            Ok(endpoints.fold(builder, Builder::listen))
        },
    },
    OptionSpec {
        name: "endPoint",
        value: "giop:tcp:host:port or giop:unix:/path",
        several: true,
        list: Some(List::Listen),
        set: |builder, text| Ok(builder.listen(text)),
    },
    OptionSpec {
        name: "endPointPublish",
        value: "giop:tcp:host:port, addr, ipv4, ipv6 or hostname, several separated by commas",
        several: true,
        list: Some(List::Publish),
        set: |builder, text| Ok(text.split(',').fold(builder, Builder::publish)),
    },
    OptionSpec {
        name: "TransportProperty",
        value: "scheme.property=value, several separated by semicolons",
        several: true,
        list: None,
        set: |builder, text| {
            let properties = text.split(';').filter(|property| !property.is_empty());
            Ok(properties.fold(builder, Builder::transport_property))
        },
    },
    OptionSpec {
        name: "serverTransportRule",
        value: RULE,
        several: false,
        list: None,
        set: |mut builder, text| {
            add_rules(&mut builder.settings.rules.accept, text)?;
            Ok(builder)
        },
    },
    OptionSpec {
        name: "clientTransportRule",
        value: RULE,
        several: false,
        list: None,
        set: |mut builder, text| {
            add_rules(&mut builder.settings.rules.connect, text)?;
            Ok(builder)
        },
    },
    OptionSpec {
        name: "clientCallTimeOutPeriod",
        value: "a number of milliseconds; 0 for no limit",
        several: false,
        list: None,
        set: |mut builder, text| {
            builder.settings.policies.round_trip_timeout = milliseconds(text)?;
            Ok(builder)
        },
    },
    OptionSpec {
        name: "clientConnectTimeOutPeriod",
        value: "a number of milliseconds; 0 for no limit",
        several: false,
        list: None,
        set: |builder, text| {
            Ok(builder.connect_timeout(milliseconds(text)?.unwrap_or(Duration::MAX)))
        },
    },
    OptionSpec {
        name: "giopMaxMsgSize",
        value: "a number of octets, 8192 or more",
        several: false,
        list: None,
        set: |builder, text| {
            let octets = text.parse().ok().filter(|octets| *octets >= 8192);
            let octets =
                octets.ok_or_else(|| expected("a number of octets, 8192 or more", text))?;
            Ok(builder.max_message_octets(octets))
        },
    },
    OptionSpec {
        name: "MaxMessageSize",
        value: "a number of octets, from which messages are sent in fragments",
        several: false,
        list: None,
        set: |builder, text| {
            let octets = text
                .parse()
                .map_err(|_| expected("a number of octets", text))?;
            Ok(builder.max_fragment_octets(octets))
        },
    },
    OptionSpec {
        name: "nativeCharCodeSet",
        value: CHAR_SETS,
        several: false,
        list: None,
        set: |builder, text| Ok(builder.native_char_code_set(char_set(text)?)),
    },
    OptionSpec {
        name: "defaultCharCodeSet",
        value: CHAR_SETS,
        several: false,
        list: None,
        set: |builder, text| Ok(builder.char_code_set_of_unstated_peers(char_set(text)?)),
    },
    OptionSpec {
        name: "maxGIOPVersion",
        value: "1.0, 1.1 or 1.2",
        several: false,
        list: None,
        set: |builder, text| {
            let version = match text {
                "1.0" => Version::V1_0,
                "1.1" => Version::V1_1,
                "1.2" => Version::V1_2,
                _ => return Err(expected("1.0, 1.1 or 1.2", text)),
            };
            Ok(builder.max_giop_version(version))
        },
    },
    OptionSpec {
        name: "id",
        value: "a name for the ORB",
        several: false,
        list: None,
        set: |builder, text| Ok(builder.id(text)),
    },
    OptionSpec {
        name: "serverId",
        value: "a name for the server",
        several: false,
        list: None,
        set: |builder, text| Ok(builder.server_id(text)),
    },
    OptionSpec {
        name: "traceLevel",
        value: "a number; from 30 on a trace shows octets, from 40 on all of them",
        several: false,
        list: None,
        set: |builder, text| {
            let level: u32 = text.parse().map_err(|_| expected("a number", text))?;
            // The program's `tracing` subscriber enables the trace, so a level below 30 only sets the octets to none.
            Ok(match level {
                0..30 => builder.trace_payload(0),
                30..40 => builder.trace_payload(TRACED_OCTETS),
                40.. => builder.trace_payload(usize::MAX),
            })
        },
    },
];

/// The words of a text. Digits of a stringified reference that go on in the next word are joined.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_reference = |last: &String| {
            let url = last.split_once('=').map_or("", |(_, url)| url);
            let scheme = url.get(.."IOR:".len());
            scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("IOR:"))
        };
        match words.last_mut() {
            Some(last)
                if word.bytes().all(|octet| octet.is_ascii_hexdigit()) && is_reference(last) =>
            {
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn expected(what: &str, found: &str) -> String {
    format!("expected {what}, found {found:?}")
}

fn char_set(text: &str) -> Result<CharSet, String> {
    match text {
        "UTF-8" => Ok(CharSet::Utf8),
        "ISO-8859-1" => Ok(CharSet::Latin1),
        _ => Err(expected(CHAR_SETS, text)),
    }
}

/// Adds rules behind those that there are.
fn add_rules(to: &mut Option<Arc<Rules>>, text: &str) -> Result<(), String> {
    let before = to.as_deref().cloned().unwrap_or_default();
    let rules = before.with_text(text).map_err(|error| error.to_string())?;
    *to = Some(Arc::new(rules));
    Ok(())
}

fn milliseconds(text: &str) -> Result<Option<Duration>, String> {
    let number: u64 = text
        .parse()
        .map_err(|_| expected("a number of milliseconds", text))?;
    Ok((number > 0).then(|| Duration::from_millis(number)))
}

/// Options of the environment and of the arguments, until the ORB is built.
#[derive(Debug, Default)]
pub(crate) struct OrbOptions {
    environment: Vec<(usize, String)>,
    arguments: Vec<(usize, String)>,
    /// The first error, which [`apply`](Self::apply) reports.
    problem: Option<OptionError>,
}

impl OrbOptions {
    /// Reads the options of the environment by `variable`, replacing those that were read before.
    pub(crate) fn read_environment(&mut self, variable: impl Fn(&str) -> Option<OsString>) {
        self.environment.clear();
        for (index, spec) in OPTIONS.iter().enumerate() {
            let name = format!("ORB{}", spec.name);
            let Some(value) = variable(&name) else {
                continue;
            };
            let Ok(value) = value.into_string() else {
                self.fail(Source::Environment, spec, "expected UTF-8 text".to_owned());
                continue;
            };
            // An empty variable counts as unset.
            if spec.several {
                let values = words(&value).into_iter();
                self.environment.extend(values.map(|value| (index, value)));
            } else if !value.trim().is_empty() {
                self.environment.push((index, value.trim().to_owned()));
            }
        }
    }

    /// Removes the options from an argument list, up to `--`, and leaves all other arguments.
    pub(crate) fn take_arguments(&mut self, arguments: &mut Vec<String>) {
        let mut rest = core::mem::take(arguments).into_iter().peekable();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                arguments.push(argument);
                break;
            }
            let Some(name) = argument.strip_prefix(PREFIX) else {
                arguments.push(argument);
                continue;
            };
            let known = OPTIONS
                .iter()
                .enumerate()
                .find(|(_, spec)| spec.name.eq_ignore_ascii_case(name));
            let Some((index, spec)) = known else {
                let problem = Problem::Unknown(near(name));
                self.problem.get_or_insert(OptionError {
                    option: argument,
                    source: Source::Arguments,
                    problem,
                });
                continue;
            };
            let is_value = |next: &String| next != "--" && !next.starts_with(PREFIX);
            match rest.next_if(is_value) {
                Some(value) => self.arguments.push((index, value)),
                None => {
                    self.problem.get_or_insert(OptionError {
                        option: argument,
                        source: Source::Arguments,
                        problem: Problem::NoValue(spec.value),
                    });
                }
            }
        }
        arguments.extend(rest);
    }

    /// Applies the options over the builder's settings: the environment first, so that arguments have the last word.
    ///
    /// # Errors
    /// The first invalid option.
    pub(crate) fn apply(builder: Builder) -> Result<Builder, OptionError> {
        let mut builder = builder;
        let given = core::mem::take(&mut builder.given);
        if let Some(problem) = given.problem {
            return Err(problem);
        }
        builder = over(builder, Source::Environment, given.environment)?;
        over(builder, Source::Arguments, given.arguments)
    }

    fn fail(&mut self, source: Source, spec: &OptionSpec, why: String) {
        self.problem
            .get_or_insert_with(|| OptionError::bad(source, spec.name, why));
    }
}

fn over(
    mut builder: Builder,
    source: Source,
    given: Vec<(usize, String)>,
) -> Result<Builder, OptionError> {
    let mut replaced = Vec::new();
    builder.source = source;
    for (index, value) in given {
        let Some(spec) = OPTIONS.get(index) else {
            continue;
        };
        if let Some(list) = spec.list
            && !replaced.contains(&list)
        {
            replaced.push(list);
            match list {
                List::Listen => builder.listen.clear(),
                List::Publish => {
                    builder.publish.clear();
                    builder.settings.publish.host = None;
                }
            }
        }
        builder.option = spec.name;
        builder =
            (spec.set)(builder, &value).map_err(|why| OptionError::bad(source, spec.name, why))?;
    }
    Ok(builder)
}

/// The option names that resemble an unknown one; all names, if none does.
fn near(name: &str) -> Vec<&'static str> {
    let name = name.to_ascii_lowercase();
    let is_near = |spec: &&OptionSpec| {
        let known = spec.name.to_ascii_lowercase();
        let mistakes = strsim::osa_distance(&known, &name);
        mistakes <= known.len() / 3 || known.starts_with(&name) || name.starts_with(&known)
    };
    let near: Vec<_> = OPTIONS.iter().filter(is_near).map(|s| s.name).collect();
    if near.is_empty() || name.is_empty() {
        return OPTIONS.iter().map(|spec| spec.name).collect();
    }
    near
}

#[cfg(test)]
mod tests;
