//! Tests of the profiles of references.

use super::*;
use zorb_cdr::{Encoder, NativeEndian, WCharSet};
use zorb_giop::ior::{
    IiopAddress, IiopProfile, ProfileBody, ProfileTag, TaggedProfile, UiopAddress, UiopProfile,
};

fn body<A>(
    address: A,
    version: Version,
    key: &Bytes,
    components: &[TaggedComponent],
) -> ProfileBody<A> {
    ProfileBody {
        version,
        address,
        object_key: key.clone(),
        components: components.to_vec(),
    }
}

fn component(
    tag: ComponentTag,
    write: impl FnOnce(&mut Encoder<NativeEndian>) -> Result<(), EncodeError>,
) -> Result<TaggedComponent, EncodeError> {
    let data = encapsulate(write)?;
    Ok(TaggedComponent { tag, data })
}

#[test]
fn a_reference_leads_to_every_endpoint_in_the_order_asked_for() {
    let endpoints = vec![
        Endpoint::iiop("one", 1),
        Endpoint::uiop("/tmp/two"),
        Endpoint::iiop("::1", 3),
    ];
    let key = Bytes::from_static(b"key");
    let published = Published {
        version: Version::HIGHEST,
        endpoints: endpoints.clone(),
        native_char_set: CharSet::default(),
        platform: None,
        only_reachable: false,
    };
    let ior = make_ior("IDL:X:1.0", &key, &published, &Registry::default()).unwrap();
    let found = candidates(&ior, Version::HIGHEST, &Registry::default());
    let found_endpoints: Vec<_> = found.iter().map(|c| c.endpoint.clone()).collect();
    // Alternate addresses belong to the first TCP profile; omniORB's component is for omniORB alone.
    assert_eq!(
        found_endpoints,
        [
            endpoints[0].clone(),
            endpoints[2].clone(),
            endpoints[1].clone()
        ]
    );
    assert!(
        found
            .iter()
            .all(|c| c.key == key && c.stated && c.version == Version::V1_2)
    );
}

#[test]
fn a_reference_with_endless_addresses_is_tried_in_bounds() {
    // So many that comparing all pairs would take minutes.
    let endpoint = |n: u32| Endpoint::iiop(format!("host{}", n / 50_000), (n % 50_000 + 1) as u16);
    let endpoints = (0..200_000).map(endpoint).collect();
    let ior = make_ior(
        "",
        &Bytes::new(),
        &Published {
            version: Version::HIGHEST,
            endpoints,
            native_char_set: CharSet::default(),
            platform: None,
            only_reachable: false,
        },
        &Registry::default(),
    )
    .unwrap();
    assert_eq!(
        candidates(&ior, Version::HIGHEST, &Registry::default()).len(),
        MAX_CANDIDATES
    );
}

#[test]
fn tao_s_further_endpoints_are_tried_once_each_and_addresses_to_nowhere_never() {
    let address = IiopAddress {
        host: "one".to_owned(),
        port: 1,
    };
    let tao = component(ComponentTag::TAO_ENDPOINTS, |e| {
        e.put(&vec![
            ("one".to_owned(), 1u16, 0i16),
            ("two".to_owned(), 40_000, 0),
        ])
    });
    let nowhere = component(ComponentTag::ALTERNATE_IIOP_ADDRESS, |e| {
        e.write_raw_string(b"three")?;
        e.write_u16(0);
        Ok(())
    });
    let components = [nowhere.unwrap(), tao.unwrap()];
    let profile = body(address, Version::V1_2, &Bytes::new(), &components);
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![profile.to_tagged().unwrap()],
    };
    let found: Vec<_> = candidates(&ior, Version::HIGHEST, &Registry::default())
        .into_iter()
        .map(|candidate| candidate.endpoint)
        .collect();
    assert_eq!(
        found,
        [Endpoint::iiop("one", 1), Endpoint::iiop("two", 40_000)]
    );
}

#[test]
fn an_orb_held_to_an_old_version_states_and_uses_no_other() {
    let published = Published {
        version: Version::V1_0,
        endpoints: vec![Endpoint::iiop("h", 1)],
        native_char_set: CharSet::default(),
        platform: None,
        only_reachable: false,
    };
    let old = make_ior("", &Bytes::new(), &published, &Registry::default()).unwrap();
    let new = Published {
        version: Version::HIGHEST,
        ..published
    };
    let new = make_ior("", &Bytes::new(), &new, &Registry::default()).unwrap();
    for (ior, highest, version) in [
        (&old, Version::HIGHEST, Version::V1_0),
        (&new, Version::V1_0, Version::V1_0),
        (&new, Version::V1_1, Version::V1_1),
    ] {
        let [candidate] = &candidates(ior, highest, &Registry::default())[..] else {
            panic!("one candidate");
        };
        // GIOP 1.0 has no negotiation.
        assert_eq!(
            (candidate.version, candidate.stated),
            (version, version > Version::V1_0)
        );
    }
}

#[test]
fn omniorb_gets_no_cancel_request() {
    let takes_cancels = |orb_type: Option<u32>| {
        let mut body = body(
            IiopAddress {
                host: "h".to_owned(),
                port: 1,
            },
            Version::HIGHEST,
            &Bytes::new(),
            &[],
        );
        body.components.extend(orb_type.map(|orb_type| {
            let write = |e: &mut Encoder<NativeEndian>| {
                e.write_u32(orb_type);
                Ok(())
            };
            component(ComponentTag::ORB_TYPE, write).unwrap()
        }));
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![body.to_tagged().unwrap()],
        };
        let candidates = candidates(&ior, Version::HIGHEST, &Registry::default());
        candidates[0].peer.takes_cancels()
    };
    assert!(takes_cancels(Some(ORB_TYPE)));
    // A peer without an ORB type may be omniORB.
    assert!(!takes_cancels(Some(OMNIORB_ORB_TYPE)) && !takes_cancels(None));
}

/// References as JacORB 3.9 writes them.
#[test]
fn text_for_jacorb_is_in_the_set_in_which_it_answers() {
    let natively_latin1 = "IOR:000000000000001F49444C3A7A6F72622E746573742F496E7465726F702F506565723A312E300000000000010000000000000078000102000000000A3132372E302E302E3100B4FF0000001E3436313734333836312F020243370F022A3818100630463814141B484C1B0000000000020000000000000008000000004A41430000000001000000240000000000010001000000020001000F0501000100010109000000020501000100010100";
    let natively_utf8 = "IOR:000000000000001F49444C3A7A6F72622E746573742F496E7465726F702F506565723A312E300000000000010000000000000078000102000000000A3132372E302E302E3100AF610000001F353030323537393636332F020303234C2119473F100630463814141B484C1B00000000020000000000000008000000004A4143000000000100000024000000000501000100000002000100010001000F00010109000000020501000100010100";
    for (reference, expected) in [
        // It states UTF-8 as a conversion code set, but replies in ISO 8859-1.
        (natively_latin1, CharSet::Latin1),
        (natively_utf8, CharSet::Utf8),
    ] {
        let ior = Ior::from_hex(&reference[4..]).unwrap();
        let found = candidates(&ior, Version::HIGHEST, &Registry::default());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code_sets.char_set, expected);
        assert_eq!(found[0].code_sets.wchar_set, WCharSet::Utf16);
        assert_eq!(found[0].peer, PeerOrb::JacOrb);
    }
}

#[test]
fn foreign_and_malformed_profiles_lead_nowhere_and_do_no_harm() {
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![
            TaggedProfile {
                tag: ProfileTag(99),
                data: Bytes::from_static(b"whatever"),
            },
            TaggedProfile {
                tag: ProfileTag::INTERNET_IOP,
                data: Bytes::from_static(&[1, 1, 2, 0]),
            },
            TaggedProfile {
                tag: ProfileTag::UIOP,
                data: Bytes::new(),
            },
        ],
    };
    assert!(candidates(&ior, Version::HIGHEST, &Registry::default()).is_empty());
}

#[test]
fn keys_are_short_whatever_they_are() {
    assert_eq!(describe_key(b"NameService"), "NameService");
    assert_eq!(describe_key(&[0xfe, 1, b'a']), "\\xfe\\x01a");
    assert_eq!(
        describe_key(&[b'k'; 40]),
        "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…(40 octets)"
    );
}

#[test]
fn profiles_of_tcp_and_unix_sockets_are_what_the_specification_and_tao_have() {
    let key = Bytes::from_static(b"key");
    let published = Published {
        version: Version::V1_0,
        endpoints: vec![Endpoint::iiop("one", 1), Endpoint::uiop("/tmp/two")],
        native_char_set: CharSet::default(),
        platform: None,
        only_reachable: false,
    };
    let ior = make_ior("", &key, &published, &Registry::default()).unwrap();
    let [iiop, uiop] = &ior.profiles[..] else {
        panic!("two profiles");
    };
    let address = IiopAddress {
        host: "one".to_owned(),
        port: 1,
    };
    assert_eq!(
        *iiop,
        body(address, Version::V1_0, &key, &[]).to_tagged().unwrap()
    );
    let address = UiopAddress {
        path: "/tmp/two".to_owned(),
    };
    assert_eq!(
        *uiop,
        body(address, Version::V1_0, &key, &[]).to_tagged().unwrap()
    );
    // TAO's layout: byte order, version, string, key; little-endian here.
    if cfg!(target_endian = "little") {
        let octets = b"\x01\x01\x00\x00\x09\0\0\0/tmp/two\0\0\0\0\x03\0\0\0key";
        assert_eq!(&uiop.data[..], octets);
    }
}

/// A reference of e*ORB, which uses TAO's tag and layout, from the sources of programs that call it. Its other two
/// profiles are those of DIOP and IIOP.
#[test]
#[cfg(target_endian = "little")]
fn a_recorded_profile_of_a_unix_socket_is_read_and_written_alike() {
    let octets = b"\x01\x01\x02\x00\x1a\x00\x00\x00/tmp/uiop.plnx_arm.ks8Jds\0\x00\x00\
        \x20\x00\x00\x00\x01\x92\x18\x00eORB\x1a\xca\x8eS\x01\x00\x00\x00\x05EORB\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\
        \x00\x00\x00\x00";
    let recorded = TaggedProfile {
        tag: ProfileTag(0x5441_4f00),
        data: Bytes::from_static(octets),
    };
    let read = UiopProfile::from_tagged(&recorded).unwrap();
    assert_eq!(read.address.path, "/tmp/uiop.plnx_arm.ks8Jds");
    assert_eq!((read.object_key.len(), read.components.len()), (32, 0));
    assert_eq!(read.to_tagged().unwrap(), recorded);
    let ior = Ior {
        type_id: "IDL:ManagedCompModule/ManagedCompInterface:1.0".to_owned(),
        profiles: vec![recorded],
    };
    let found = candidates(&ior, Version::HIGHEST, &Registry::default());
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].endpoint,
        Endpoint::uiop("/tmp/uiop.plnx_arm.ks8Jds")
    );
}

#[test]
fn a_socket_is_named_for_omniorb_in_an_iiop_profile_without_an_address() {
    let published = Published {
        version: Version::HIGHEST,
        endpoints: vec![
            Endpoint::uiop("/tmp/two"),
            Endpoint::uiop_abstract(*b"three"),
        ],
        native_char_set: CharSet::default(),
        platform: None,
        only_reachable: false,
    };
    let transports = Registry::default();
    let ior = make_ior("", &Bytes::new(), &published, &transports).unwrap();
    let tags: Vec<_> = ior.profiles.iter().map(|profile| profile.tag).collect();
    assert_eq!(
        tags,
        [ProfileTag::UIOP, ProfileTag::UIOP, ProfileTag::INTERNET_IOP]
    );
    let body = IiopProfile::from_tagged(&ior.profiles[2]).unwrap();
    assert_eq!(body.address.port, 0);
    let named = body
        .components
        .iter()
        .filter(|c| c.tag == ComponentTag::OMNIORB_UNIX);
    assert_eq!(
        named.count(),
        1,
        "an abstract name is nothing that omniORB knows"
    );
    let found = candidates(&ior, Version::HIGHEST, &transports);
    let found: Vec<_> = found
        .into_iter()
        .map(|candidate| candidate.endpoint)
        .collect();
    assert_eq!(found, published.endpoints);
    // With `only_reachable` each profile has a usable address.
    let reachable = Published {
        only_reachable: true,
        ..published.clone()
    };
    let without = make_ior("", &Bytes::new(), &reachable, &transports).unwrap();
    assert_eq!(without.profiles, ior.profiles[..2]);
    // As in references of omniORB, which have the component only.
    let mut foreign = body.clone();
    foreign
        .components
        .retain(|c| c.tag == ComponentTag::OMNIORB_UNIX);
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![foreign.to_tagged().unwrap()],
    };
    let found = candidates(&ior, Version::HIGHEST, &transports);
    assert_eq!(found[0].endpoint, published.endpoints[0]);
    assert_eq!(found.len(), 1);
}

#[test]
fn tao_s_further_sockets_are_read() {
    let sockets = component(ComponentTag::TAO_ENDPOINTS, |e| {
        e.put(&vec![("/one".to_owned(), 0i16), ("/two".to_owned(), 0)])
    });
    let address = UiopAddress {
        path: "/one".to_owned(),
    };
    let profile: UiopProfile = body(address, Version::V1_2, &Bytes::new(), &[sockets.unwrap()]);
    let ior = Ior {
        type_id: String::new(),
        profiles: vec![profile.to_tagged().unwrap()],
    };
    let found = candidates(&ior, Version::HIGHEST, &Registry::default());
    let found: Vec<_> = found
        .into_iter()
        .map(|candidate| candidate.endpoint)
        .collect();
    assert_eq!(found, [Endpoint::uiop("/one"), Endpoint::uiop("/two")]);
}

#[test]
fn why_nothing_leads_anywhere_is_reported_in_bounds() {
    let iiop = |host: &str, port| {
        let host = host.to_owned();
        let address = IiopAddress { host, port };
        body(address, Version::V1_2, &Bytes::new(), &[])
            .to_tagged()
            .unwrap()
    };
    let foreign = TaggedProfile {
        tag: ProfileTag(0x5a4f_0001),
        data: Bytes::from_static(b"whatever"),
    };
    let long = "h".repeat(64 << 10);
    let mut profiles = vec![iiop("h", 0), iiop("", 1), iiop(&long, 1), foreign];
    let text_of = |profiles: &[TaggedProfile]| {
        let ior = Ior {
            type_id: String::new(),
            profiles: profiles.to_vec(),
        };
        assert!(candidates(&ior, Version::HIGHEST, &Registry::default()).is_empty());
        describe_unusable(&ior, &Registry::default())
    };
    assert_eq!(
        text_of(&profiles),
        "iiop://h:0: port 0, iiop://:1: empty host, \
         iiop: expected a host of at most 255 octets, found 65536, \
         no transport for profile 0x5a4f0001"
    );
    profiles = vec![iiop("h", 0); 1_000];
    let text_of = text_of(&profiles);
    assert!(
        text_of.ends_with("port 0, 968 more") && text_of.len() < 2_000,
        "{text_of}"
    );
}

#[test]
fn a_reference_with_an_endpoint_for_tls_alone_is_said_to_have_one() {
    let why = |port, tag| {
        let address = IiopAddress {
            host: "bank".to_owned(),
            port,
        };
        // supports and requires 0x66, port 12345
        let component = TaggedComponent {
            tag,
            data: Bytes::from_static(&[0, 0, 0, 0x66, 0, 0x66, 0x30, 0x39]),
        };
        let mut secure = body(address, Version::V1_2, &Bytes::new(), &[]);
        secure.components.push(component);
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![secure.to_tagged().unwrap()],
        };
        describe_unusable(&ior, &Registry::default())
    };
    let secure = "iiop://bank:0: a secure endpoint only (TLS), for which there is no transport";
    for tag in [
        ComponentTag::SSL_SEC_TRANS,
        ComponentTag::CSI_SEC_MECH_LIST,
        ComponentTag::TLS_SEC_TRANS,
    ] {
        assert_eq!(why(0, tag), secure);
    }
    assert_eq!(why(0, ComponentTag(99)), "iiop://bank:0: port 0");
}
