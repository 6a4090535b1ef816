//! Tests of options from the environment and the arguments.

use super::*;
use crate::Orb;
use crate::orb_settings::Settings;
use zorb_cdr::CharSet;

fn strings(arguments: &[&str]) -> Vec<String> {
    arguments
        .iter()
        .map(|&argument| argument.to_owned())
        .collect()
}

/// The settings of a builder, variables and arguments.
fn settled(
    builder: Builder,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Result<Settings, String> {
    let read = |builder: &mut Builder| {
        builder.given.read_environment(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.into())
        });
    };
    let mut first = builder;
    read(&mut first);
    let builder = first.args(&mut strings(arguments));
    builder
        .settle()
        .map(|(settings, ..)| settings)
        .map_err(|error| error.to_string())
}

fn listening(settings: &Settings) -> Vec<String> {
    let endpoints = settings
        .listen
        .iter()
        .map(|listen| listen.address.endpoint.to_string());
    endpoints.collect()
}

#[test]
fn every_option_reaches_its_setting() {
    let settings = settled(
        Orb::builder(),
        &[],
        &[
            "-ORBInitRef",
            "NameService=corbaloc::h/NameService",
            "-ORBInitRef",
            "Bank=corbaname::h#a=b",
            "-ORBDefaultInitRef",
            "corbaloc::boot",
            "-ORBListenEndpoints",
            "iiop://h:1;uiop:///x",
            "-ORBendPoint",
            "giop:tcp:h:2",
            "-ORBendPointPublish",
            "giop:tcp:nat:3,addr",
            "-ORBclientCallTimeOutPeriod",
            "1500",
            "-ORBclientConnectTimeOutPeriod",
            "0",
            "-ORBgiopMaxMsgSize",
            "8192",
            "-ORBmaxGIOPVersion",
            "1.1",
            "-ORBid",
            "me",
            "-ORBServerId",
            "bank",
            "-ORBMaxMessageSize",
            "65536",
            "-ORBnativeCharCodeSet",
            "ISO-8859-1",
            "-ORBdefaultCharCodeSet",
            "UTF-8",
            "-ORBtraceLevel",
            "30",
        ],
    )
    .unwrap();
    assert_eq!(settings.native_char_set, Some(CharSet::Latin1));
    assert_eq!(settings.unstated_char_set, CharSet::Utf8);
    let references: Vec<_> = settings.initial_references.iter().collect();
    assert_eq!(
        references,
        [
            (&"Bank".to_owned(), &"corbaname::h#a=b".to_owned()),
            (
                &"NameService".to_owned(),
                &"corbaloc::h/NameService".to_owned()
            ),
        ]
    );
    assert_eq!(
        settings.default_initial_reference.as_deref(),
        Some("corbaloc::boot")
    );
    assert_eq!(
        listening(&settings),
        ["iiop://h:1", "uiop:///x", "iiop://h:2"]
    );
    assert_eq!(settings.publish.rules.len(), 2);
    assert_eq!(
        settings.policies.round_trip_timeout,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(settings.connect_timeout, Duration::MAX);
    assert_eq!(settings.limits.max_message_octets, 8192);
    assert_eq!(settings.max_giop_version, Version::V1_1);
    assert_eq!(settings.id, "me");
    assert_eq!(settings.server_id, "bank");
    assert_eq!(settings.max_fragment_octets, Some(65536));
    assert_eq!(settings.trace_payload, 128);
}

#[test]
fn arguments_go_before_the_environment_and_that_before_the_builder() {
    let builder = || {
        Orb::builder()
            .id("builder")
            .round_trip_timeout(Duration::from_millis(1))
    };
    let id = |variables, arguments| settled(builder(), variables, arguments).unwrap().id;
    assert_eq!(id(&[], &[]), "builder");
    assert_eq!(id(&[("ORBid", "environment")], &[]), "environment");
    assert_eq!(
        id(&[("ORBid", "environment")], &["-ORBid", "argument"]),
        "argument"
    );
    assert_eq!(id(&[], &["-ORBid", "one", "-ORBid", "two"]), "two");
    // An empty variable counts as unset.
    assert_eq!(id(&[("ORBid", " ")], &[]), "builder");
    let settings = settled(builder(), &[], &["-ORBclientCallTimeOutPeriod", "0"]).unwrap();
    assert_eq!(settings.policies.round_trip_timeout, None);
}

#[test]
fn the_order_of_the_builder_s_methods_does_not_matter() {
    let mut arguments = strings(&["-ORBid", "argument", "-ORBendPoint", "giop:tcp:a:1"]);
    let builder = Orb::builder()
        .args(&mut arguments)
        .id("builder")
        .listen("iiop://b:1");
    let settings = settled(builder, &[], &[]).unwrap();
    assert_eq!(settings.id, "argument");
    assert_eq!(listening(&settings), ["iiop://a:1"]);
}

#[test]
fn lists_are_replaced_as_a_whole_and_initial_references_one_by_one() {
    let builder = || {
        Orb::builder()
            .listen("iiop://b:1")
            .listen("iiop://b:2")
            .publish_host("b")
            .initial_reference("A", "corbaloc::b/A")
            .initial_reference("B", "corbaloc::b/B")
    };
    let variables = [
        ("ORBendPoint", "giop:tcp:e:1\n giop:tcp:e:2 "),
        ("ORBInitRef", "B=corbaloc::e/B C=corbaloc::e/C"),
    ];
    let settings = settled(builder(), &variables, &[]).unwrap();
    assert_eq!(listening(&settings), ["iiop://e:1", "iiop://e:2"]);
    assert_eq!(settings.publish.host.as_deref(), Some("b"));
    let arguments = [
        "-ORBListenEndpoints",
        "iiop://a:1",
        "-ORBendPoint",
        "giop:tcp:a:2",
        "-ORBendPointPublish",
        "addr",
        "-ORBInitRef",
        "C=corbaloc::a/C",
    ];
    let settings = settled(builder(), &variables, &arguments).unwrap();
    assert_eq!(listening(&settings), ["iiop://a:1", "iiop://a:2"]);
    assert_eq!(settings.publish.host, None);
    assert_eq!(settings.publish.rules.len(), 1);
    let references: Vec<_> = settings.initial_references.into_values().collect();
    assert_eq!(
        references,
        ["corbaloc::b/A", "corbaloc::e/B", "corbaloc::a/C"]
    );
}

#[test]
fn options_are_taken_out_and_everything_else_stays() {
    let mut arguments = strings(&[
        "program", "-ORBid", "x", "-v", "-orbid", "file", "-ORBID", "--odd", "--", "-ORBid", "y",
    ]);
    let builder = Orb::builder().args(&mut arguments);
    assert_eq!(
        arguments,
        ["program", "-v", "-orbid", "file", "--", "-ORBid", "y"]
    );
    assert_eq!(settled(builder, &[], &[]).unwrap().id, "--odd");
}

#[test]
fn each_mistake_names_option_source_and_what_was_expected() {
    let check =
        |builder: Builder, variables: &[(&str, &str)], arguments: &[&str], message: &str| {
            let error = settled(builder, variables, arguments).unwrap_err();
            assert_eq!(error, message);
        };
    let argument = |arguments: &[&str], message: &str| {
        check(Orb::builder(), &[], arguments, message);
    };
    argument(
        &["-ORBInitRf", "A=b"],
        "argument -ORBInitRf: no such option, known are -ORBInitRef",
    );
    argument(
        &["-ORBInitRef=A=b"],
        "argument -ORBInitRef=A=b: no such option, known are -ORBInitRef",
    );
    argument(
        &["-ORBendpoints", "x"],
        "argument -ORBendpoints: no such option, known are -ORBendPoint",
    );
    argument(
        &["-ORBid", "-ORBInitRef", "A=corbaloc::h/A"],
        "argument -ORBid: expected a name for the ORB, found no value",
    );
    argument(
        &["-ORBInitRef", "--", "A=corbaloc::h/A"],
        "argument -ORBInitRef: expected NAME=URL, found no value",
    );
    argument(
        &["-ORBInitRef", "corbaloc::h/A"],
        "argument -ORBInitRef: expected NAME=URL, found \"corbaloc::h/A\"",
    );
    argument(
        &["-ORBInitRef", "A=http://h"],
        "argument -ORBInitRef: expected IOR:, corbaloc:, corbaname: or file:, found \"http://h\"",
    );
    argument(
        &["-ORBDefaultInitRef", "corbaloc:rir:"],
        "argument -ORBDefaultInitRef: expected the beginning of a corbaloc: or corbaname: url with an address, found \"corbaloc:rir:\"",
    );
    argument(
        &["-ORBmaxGIOPVersion", "1.3"],
        "argument -ORBmaxGIOPVersion: expected 1.0, 1.1 or 1.2, found \"1.3\"",
    );
    argument(
        &["-ORBgiopMaxMsgSize", "1"],
        "argument -ORBgiopMaxMsgSize: expected a number of octets, 8192 or more, found \"1\"",
    );
    argument(
        &["-ORBListenEndpoints", "iiop://h:1;iiop://h"],
        "argument -ORBListenEndpoints: expected a colon and a port after the host, found \"iiop://h\"",
    );
    check(
        Orb::builder(),
        &[("ORBclientCallTimeOutPeriod", "soon")],
        &[],
        "environment variable ORBclientCallTimeOutPeriod: expected a number of milliseconds, found \"soon\"",
    );
    check(
        Orb::builder(),
        &[("ORBendPointPublish", "everything")],
        &[],
        "environment variable ORBendPointPublish: expected iiop://host:port, giop:tcp:host:port, addr, ipv4, ipv6, hostname or all(…) of one of these, found \"everything\"",
    );
    check(
        Orb::builder().listen("h:1"),
        &[],
        &[],
        "Orb::builder().listen: expected iiop://host:port, uiop:///path or uiop://@name, found \"h:1\"",
    );
    // No name resembles it, so the error lists all of them.
    let error = settled(Orb::builder(), &[], &["-ORBsvcConf", "x"]).unwrap_err();
    assert!(
        OPTIONS.iter().all(|spec| error.contains(spec.name)),
        "{error}"
    );
}

#[test]
fn an_environment_that_is_not_text_is_an_error_only_where_it_is_an_option() {
    use std::os::unix::ffi::OsStringExt;
    let mut builder = Orb::builder();
    let not_text = OsString::from_vec(vec![0xff]);
    builder
        .given
        .read_environment(|name| (name == "ORBid").then(|| not_text.clone()));
    let error = builder.settle().unwrap_err().to_string();
    assert_eq!(error, "environment variable ORBid: expected UTF-8 text");
}

#[test]
fn a_variable_may_hold_a_reference_that_is_broken_over_lines() {
    let text = "A=IOR:0011\r\n  2233\n44 B=corbaloc::h/B C=ior: 00";
    assert_eq!(
        words(text),
        ["A=IOR:0011223344", "B=corbaloc::h/B", "C=ior:00"]
    );
}

#[test]
fn every_option_is_on_its_page() {
    let page = include_str!("../../../../docs/options.md");
    for spec in &OPTIONS {
        assert!(
            page.contains(&format!("`-ORB{}", spec.name)),
            "{}",
            spec.name
        );
    }
}
