use super::*;
use crate::{PeerCertificate, Principal, ProcessCredentials, SubjectName};

fn rules(text: &str) -> Rules {
    text.parse().unwrap()
}

fn inet(text: &str) -> Address {
    Address::Inet((text.parse::<IpAddr>().unwrap(), 1).into())
}

#[test]
fn texts_of_omniorb_are_read_as_they_are() {
    // The examples of its sample.cfg, and of its users.
    let check = |text: &str, scheme: &str, peer: &str, expected: bool| {
        let found = rules(text).accepts(scheme, &inet(peer), None);
        assert_eq!(found, expected, "{text}: {scheme} {peer}");
    };
    let two = "172.16.0.0/255.240.0.0 unix,tcp\n* bidir,ssl";
    check(two, "iiop", "172.17.1.1", true);
    check(two, "ssliop", "172.17.1.1", false);
    check(two, "iiop", "172.32.1.1", false);
    check(two, "ssliop", "172.32.1.1", true);
    check("* unix,ssl,tcp", "iiop", "fe80::1", true);
    check("* ssl", "iiop", "127.0.0.1", false);
    check("localhost tcp", "iiop", "127.0.0.1", true);
    check("localhost tcp", "iiop", "::ffff:127.0.0.1", true);
    check("localhost tcp", "iiop", "192.0.2.1", false);
    check(
        "192.168.1.7 none; * tcp , unix",
        "iiop",
        "192.168.1.7",
        false,
    );
    check(
        "192.168.1.7 none; * tcp , unix",
        "iiop",
        "192.168.1.8",
        true,
    );
    check("2001:db8::/32 tcp", "iiop", "2001:db8:1::5", true);
    check("2001:db8::/32 tcp", "iiop", "2001:db9::5", false);
    check("* none,tcp", "iiop", "127.0.0.1", false);
    check("* tcp; ^* ssl", "iiop", "127.0.0.1", false);
    check("* ssl; ^* tcp", "iiop", "127.0.0.1", true);
    check("", "iiop", "127.0.0.1", false);
    check("0.0.0.0/0 tcp", "iiop", "203.0.113.9", true);
    check("0.0.0.0/0 tcp", "iiop", "2001:db8::1", false);
}

#[test]
fn unix_sockets_are_this_host() {
    let unix = Address::Unix(None);
    let accepts = |text| rules(text).accepts("uiop", &unix, None);
    assert!(accepts("localhost unix"));
    assert!(accepts("127.0.0.0/8 unix"));
    assert!(!accepts("203.0.113.0/24 unix"));
    assert!(!accepts("localhost tcp; * unix"));
}

#[test]
fn what_is_no_rule_says_what_it_should_be() {
    let check = |text: &str, expected: &str| {
        assert_eq!(text.parse::<Rules>().unwrap_err().to_string(), expected);
    };
    check(
        "*",
        "expected a mask and transports (* ssl,unix), found \"*\"",
    );
    check(
        "* ,",
        "expected a mask and transports (* ssl,unix), found \"* ,\"",
    );
    let mask = "expected *, localhost, an address, address/length, address/mask or a host, found ";
    check("10.0.0.0/33 tcp", &format!("{mask}\"10.0.0.0/33\""));
    check("10.0.0.0/::1 tcp", &format!("{mask}\"10.0.0.0/::1\""));
    check("10.0.0 tcp", &format!("{mask}\"10.0.0\""));
    check("a*b tcp", &format!("{mask}\"a*b\""));
    check("*example tcp", &format!("{mask}\"*example\""));
    check(
        "* tcp=1",
        "expected tcp, ssl, unix, bidir, none or the scheme of a transport, found \"tcp=1\"",
    );
}

#[test]
fn endpoints_are_tried_in_the_order_of_the_rules_and_of_their_schemes() {
    let only_names = rules("*.bank.example iiop; 10.0.0.0/8 iiop");
    let rules = rules("10.0.0.0/8 none; *.bank.example ssliop,iiop; * uiop,iiop");
    let place = |text: &str| rules.may_connect(&text.parse().unwrap());
    assert_eq!(place("iiop://a.BANK.example.:1"), Some((1, 1)));
    assert_eq!(place("iiop://bank.example:1"), Some((2, 1)));
    assert_eq!(place("uiop:///tmp/x"), Some((2, 0)));
    assert_eq!(place("iiop://10.1.1.1:1"), None);
    // A name is judged once more with its addresses.
    let named = "iiop://a.bank.example:1".parse().unwrap();
    assert!(!rules.connects(&named, [10, 1, 1, 1].into()));
    assert!(!rules.connects(&named, "::ffff:10.1.1.1".parse().unwrap()));
    assert!(rules.connects(&named, [192, 0, 2, 1].into()));
    assert!(rules.depends_on_address(&named));
    assert!(!only_names.depends_on_address(&named));
}

#[test]
fn nobodys_address_is_this_host() {
    let rules = rules("127.0.0.0/8 none; ::1 none; * tcp");
    for address in [
        "0.0.0.0",
        "127.5.5.5",
        "::",
        "::1",
        "::ffff:0.0.0.0",
        "::ffff:127.0.0.1",
    ] {
        let endpoint = Endpoint::iiop(address, 1);
        assert_eq!(rules.may_connect(&endpoint), None, "{address}");
    }
    assert!(mask::is_own([0, 0, 0, 0].into()));
}

#[test]
fn ports_are_those_of_endpoints() {
    let rules = Rules::new([Rule::allow().ports(2809..=2810)]);
    assert!(rules.may_connect(&Endpoint::iiop("h", 2810)).is_some());
    assert!(rules.may_connect(&Endpoint::iiop("h", 22)).is_none());
    assert!(!rules.accepts("iiop", &inet("192.0.2.1"), None));
}

#[test]
fn clients_are_known_by_what_they_have_proved() {
    let process = |user| {
        PeerIdentity::default().with_process(ProcessCredentials {
            user,
            group: 0,
            process: None,
        })
    };
    let certificate = |subject: &str, is_verified| {
        let names = vec![SubjectName::Dns("alice.example".to_owned())];
        let certificate = PeerCertificate::new(subject.to_owned(), names, is_verified, vec![]);
        PeerIdentity::default().with_certificate(certificate)
    };
    let rules = Rules::new([
        Rule::allow().schemes(["uiop"]).user(1000),
        Rule::deny().certificate("CN=mallory"),
        Rule::allow().certificate("CN=alice"),
        Rule::allow()
            .certificate("DNS:alice.example")
            .network("10.0.0.0/8")
            .unwrap(),
    ]);
    let unix = Address::Unix(None);
    assert!(rules.accepts("uiop", &unix, Some(&process(1000))));
    assert!(!rules.accepts("uiop", &unix, Some(&process(0))));
    assert!(!rules.accepts("uiop", &unix, None));
    let there = inet("192.0.2.1");
    let accepts = |who: &PeerIdentity, from: &Address| rules.accepts("ssliop", from, Some(who));
    assert!(accepts(&certificate("CN=alice", true), &there));
    assert!(!accepts(&certificate("CN=alice", false), &there));
    assert!(!accepts(&certificate("CN=bob", true), &there));
    assert!(accepts(&certificate("CN=bob", true), &inet("10.0.0.1")));
    assert!(!accepts(
        &certificate("CN=mallory", true),
        &inet("10.0.0.1")
    ));
    assert!(!rules.accepts("ssliop", &there, None));
    // Before anything is proved, only what no identity could change is refused.
    assert!(rules.may_accept("ssliop", Some([192, 0, 2, 1].into())));
    let net = Rules::new([Rule::allow()
        .schemes(["ssliop"])
        .verified()
        .network("10.0.0.0/8")
        .unwrap()]);
    assert!(!net.may_accept("ssliop", Some([192, 0, 2, 1].into())));
    assert!(net.may_accept("ssliop", Some([10, 0, 0, 1].into())));
    assert!(net.may_accept("ssliop", None));
    assert!(!net.may_accept("iiop", None));
}

#[test]
fn a_principal_that_has_logged_in_is_not_one_that_another_client_acts_for() {
    let who = |name: &str, is_asserted| {
        let mut principal = Principal::new(name);
        principal.is_asserted = is_asserted;
        PeerIdentity::default().with_principal(principal)
    };
    let there = inet("192.0.2.1");
    let own = Rules::new([Rule::allow().principal("alice")]);
    let others = Rules::new([Rule::allow().asserted_principal("alice")]);
    let table = [
        (who("alice", false), true, false),
        (who("alice", true), false, true),
        (who("bob", false), false, false),
        (PeerIdentity::default(), false, false),
    ];
    for (who, is_own, is_other) in table {
        assert_eq!(own.accepts("iiop", &there, Some(&who)), is_own, "{who:?}");
        assert_eq!(others.accepts("iiop", &there, Some(&who)), is_other);
    }
    assert!(!own.accepts("iiop", &there, None));
    assert!(own.may_accept("iiop", None));
    assert!(own.may_connect(&Endpoint::iiop("h", 22)).is_none());
}
