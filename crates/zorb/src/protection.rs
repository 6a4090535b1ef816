//! Endpoints of transports with protection (TLS) in references: they stand in components of profiles of IIOP.
//!
//! A transport states its protection ([`Addressing::protection`]), and has endpoints of host and port. This module reads
//! and writes TAG_SSL_SEC_TRANS, which has the port on the host of the profile, and TAG_CSI_SEC_MECH_LIST, which has
//! hosts and ports. Sources: CORBA Security Service 1.8 (SSLIOP); CORBA 3.3 Part 2, Secure Interoperability.

use crate::addresses::Body;
use zorb_cdr::{EncodeError, EncodeErrorKind};
use zorb_giop::Version;
use zorb_giop::ior::{ProfileTag, TaggedComponent, TaggedProfile};
use zorb_giop::security::{
    AssociationOptions, Protected, SecMech, SecMechList, SslSecTrans, TlsSecTrans,
};
use zorb_transport::{Addressing, Endpoint, Protection, Registry};

/// The endpoints with protection that a profile names, and whether it demands protection.
pub(crate) fn of(body: &Body, profile: ProfileTag) -> Protected {
    match profile {
        ProfileTag::INTERNET_IOP => Protected::of(&body.components),
        _ => Protected::default(),
    }
}

/// The endpoints of the registered transports at the addresses with protection of a profile.
pub(crate) fn endpoints<'a>(
    found: &'a Protected,
    profile: &'a Endpoint,
    transports: &'a Registry,
) -> impl Iterator<Item = Endpoint> + 'a {
    let here = transports
        .iter()
        .map(|transport| transport.addressing())
        .filter(|addressing| addressing.protection().is_some());
    here.filter_map(|addressing| addressing.placeholder_endpoint())
        .flat_map(move |placeholder| {
            found.addresses.iter().filter_map(move |(host, port)| {
                let host = host.as_deref().or_else(|| profile.host())?;
                placeholder.with_host(host, *port)
            })
        })
}

/// The components that name these endpoints of one transport in a profile of IIOP with the endpoint `profile`.
///
/// # Errors
/// A host that a reference cannot name.
pub(crate) fn components(
    protection: Protection,
    profile: &Endpoint,
    endpoints: &[&Endpoint],
) -> Result<Vec<TaggedComponent>, EncodeError> {
    let supports = AssociationOptions(protection.supports);
    // Clients without TLS use the address of the profile, if it has one.
    let requires = match profile.unreachable_reason() {
        Some(_) => AssociationOptions(protection.requires),
        None => AssociationOptions::default(),
    };
    let mut addresses = Vec::new();
    let mut written = Vec::new();
    for endpoint in endpoints {
        let (Some(host), Some(port)) = (endpoint.host(), endpoint.port()) else {
            return Err(EncodeErrorKind::Expected("a host and a port").into());
        };
        let is_same = |other: &str| other.eq_ignore_ascii_case(host);
        if written.is_empty() && profile.host().is_some_and(is_same) {
            let ssl = SslSecTrans {
                supports,
                requires,
                port,
            };
            written.push(ssl.to_component()?);
        }
        addresses.push((host.to_owned(), port));
    }
    let mechanism = SecMech::over_tls(&TlsSecTrans {
        supports,
        requires,
        addresses,
    })?;
    let list = SecMechList {
        stateful: false,
        mechanisms: vec![mechanism],
    };
    written.push(list.to_component()?);
    Ok(written)
}

/// The body of a profile of IIOP that has an endpoint with protection alone: the host, and port 0. `None` if the
/// registry has no transport for the profiles of IIOP.
pub(crate) fn closed<'a>(
    endpoint: &Endpoint,
    transports: &'a Registry,
) -> Option<(&'a dyn Addressing, Endpoint)> {
    let plain = transports.by_profile(ProfileTag::INTERNET_IOP.0)?;
    let placeholder = plain.addressing().placeholder_endpoint()?;
    let closed = placeholder.with_host(endpoint.host()?, 0)?;
    Some((plain.addressing(), closed))
}

/// The profile of one endpoint, of any transport.
///
/// # Errors
/// When the transport cannot write the address, or references cannot name it.
pub(crate) fn profile(
    mut body: Body,
    addressing: &dyn Addressing,
    transports: &Registry,
) -> Result<TaggedProfile, EncodeError> {
    let Some(protection) = addressing.protection() else {
        return body.to_tagged(addressing);
    };
    let Some((plain, closed)) = closed(&body.endpoint, transports) else {
        return Err(EncodeErrorKind::Expected("a transport for profiles of IIOP").into());
    };
    let named = components(protection, &closed, &[&body.endpoint])?;
    body.components.extend(named);
    // A URL without a version means 1.0, whose profiles have no components. Servers with TLS speak 1.2: so omniORB takes it.
    if body.version < Version::V1_1 {
        body.version = Version::V1_2;
    }
    body.endpoint = closed;
    body.to_tagged(plain)
}
