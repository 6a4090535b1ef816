//! References as octets and as text, and service contexts: what was read can be written, and reads the same again.

use crate::contexts;
use bytes::Bytes;
use std::sync::Arc;
use zorb_atm::{Atm, AtmAddressing, AtmOptions};
use zorb_giop::codeset::{CodeSetInfo, CodeSets};
use zorb_giop::ior::{
    ComponentTag, IiopProfile, ProfileAddress, ProfileBody, ProfileTag, TaggedProfile, UiopProfile,
    decode_encapsulation,
};
use zorb_giop::platform::Platform;
use zorb_giop::url::{ObjectUrl, escape};
use zorb_giop::{ExposedPolicies, Ior, Version};
use zorb_giop_lite::GiopLite;
use zorb_poa::{InstanceId, ObjectAdapter, ObjectKey, Path, is_reserved};
use zorb_transport::conformance::Octets;
use zorb_transport::{Addressing, Endpoint, Registry, TcpAddressing, Transport, UnixAddressing};

/// Takes the octets for a text, for an encapsulated reference, and for everything in one.
pub fn run(data: &[u8]) {
    text(&String::from_utf8_lossy(data));
    if let Ok(read) = decode_encapsulation::<Ior>(data) {
        ior(&read);
    }
    let profile = TaggedProfile {
        tag: ProfileTag::INTERNET_IOP,
        data: Bytes::copy_from_slice(data),
    };
    body(&profile);
    key(data);
    let _ = CodeSets::from_context(data);
    contexts::run(data);
    addresses(&TcpAddressing, data);
    addresses(&UnixAddressing, data);
    addresses(&AtmAddressing, data);
    for lite in [GiopLite::over_tcp(), GiopLite::over_unix()] {
        addresses(lite.addressing(), data);
    }
    real_time(data);
    if let Ok(platform) = Platform::from_component(data) {
        let again = platform
            .to_component()
            .expect("what was read can be written");
        let again = Platform::from_component(&again.data);
        // Text that is none is longer as text, and cut again.
        assert!(again.is_ok_and(|again| again.host == platform.host));
    }
}

/// Components of Real-time CORBA.
fn real_time(data: &[u8]) {
    let policies = ExposedPolicies::from_component(data);
    let component = policies.to_component();
    match component.expect("what was read can be written") {
        Some(component) => {
            assert_eq!(ExposedPolicies::from_component(&component.data), policies);
        }
        None => assert_eq!(policies, ExposedPolicies::default()),
    }
}

/// The address of a transport's profile, and what its components hold.
fn addresses(addressing: &dyn Addressing, data: &[u8]) {
    for little in [false, true] {
        let from = || Octets::new(data, little);
        if let Ok(endpoint) = addressing.read(&mut from()) {
            assert_eq!(endpoint.scheme(), addressing.scheme());
            let _ = endpoint.unreachable_reason();
            let mut written = Octets::new(&[], little);
            let is_written = addressing.write(&endpoint, &mut written);
            is_written.expect("what was read can be written");
            let again = addressing.read(&mut Octets::new(written.octets(), little));
            assert_eq!(again, Ok(endpoint));
        }
        for component in addressing.components() {
            let found = addressing.read_component(*component, &mut from());
            let count = found.map_or(0, |found| found.len());
            assert!(count <= data.len(), "no more than there is");
        }
    }
}

fn key(data: &[u8]) {
    match ObjectKey::parse(data) {
        Some(key) => {
            assert_eq!(&key.to_bytes()[..], data);
            let is_plain = matches!(key, ObjectKey::Plain(_));
            assert_ne!(is_plain, is_reserved(data));
            if let ObjectKey::Persistent { path, .. } = key
                && let Some(read) = Path::parse(path)
            {
                assert_eq!(&read.to_bytes()[..], path);
            }
        }
        None => assert!(is_reserved(data)),
    }
    // Whatever is asked for, a server with nothing in it has nothing.
    let server = ObjectAdapter::new(InstanceId(0), "");
    assert!(server.locate(data).is_err());
}

fn text(text: &str) {
    let mut transports = Registry::default();
    transports.insert(Arc::new(Atm::new(AtmOptions::default())));
    for lite in [GiopLite::over_tcp(), GiopLite::over_unix()] {
        transports.insert(Arc::new(lite));
    }
    let _ = transports.parse_listen(text);
    for transport in transports.iter() {
        let _ = transport.addressing().parse_corbaloc(text);
    }
    if let Ok(endpoint) = text.parse::<Endpoint>() {
        assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
    }
    let read = match text.parse::<ObjectUrl>() {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    match &read {
        ObjectUrl::Ior(read) => ior(read),
        ObjectUrl::Corbaloc(corbaloc) => {
            let printed = corbaloc.to_string();
            assert_eq!(printed.parse(), Ok(read), "printed as {printed}");
        }
        ObjectUrl::Corbaname { context, name } => {
            let printed = context.to_string();
            let rest = printed.strip_prefix("corbaloc:").expect("a corbaloc");
            let again = format!("corbaname:{rest}#{}", escape(name.as_bytes()));
            assert_eq!(again.parse(), Ok(read), "printed as {again}");
        }
        ObjectUrl::File(path) => assert!(path.starts_with('/')),
        _ => {}
    }
}

fn ior(read: &Ior) {
    let printed = read.to_ior_string().expect("what was read can be written");
    let Ok(ObjectUrl::Ior(again)) = printed.parse() else {
        panic!("{printed} is a reference");
    };
    assert_eq!(&again, read, "the same again");
    // In capitals, too.
    let capitals = format!("ior:{}", printed[4..].to_ascii_uppercase());
    assert_eq!(capitals.parse(), Ok(ObjectUrl::Ior(again)));
    assert_eq!(read.is_nil(), read.profiles.is_empty());
    for profile in &read.profiles {
        let _ = profile.object_key();
        body(profile);
    }
}

fn body(profile: &TaggedProfile) {
    if let Ok(read) = IiopProfile::from_tagged(profile) {
        round_trip(&read);
    }
    if let Ok(read) = UiopProfile::from_tagged(profile) {
        round_trip(&read);
    }
}

fn round_trip<A>(read: &ProfileBody<A>)
where
    A: ProfileAddress + PartialEq + std::fmt::Debug,
{
    let tagged = read.to_tagged().expect("what was read can be written");
    let again = ProfileBody::<A>::from_tagged(&tagged).expect("and read again");
    assert_eq!(&again, read);
    assert!(read.version >= Version::V1_1 || read.components.is_empty());
    assert_eq!(tagged.object_key(), Some(read.object_key.clone()));
    if let Some(data) = read.component(ComponentTag::CODE_SETS)
        && let Ok(info) = CodeSetInfo::from_component(data)
    {
        let component = info.to_component().expect("what was read can be written");
        assert_eq!(
            CodeSetInfo::from_component(&component.data),
            Ok(info.clone())
        );
        let _ = CodeSets::negotiate(Some(&info), None);
    }
}
