//! How clients authenticate, in references: TAG_CSI_SEC_MECH_LIST.

use super::Authentication;
use crate::addresses::read_profile;
use bytes::Bytes;
use zorb_cdr::EncodeError;
use zorb_csi::gss::oid;
use zorb_giop::ior::{ComponentTag, TaggedComponent};
use zorb_giop::security::{
    AssociationOptions, Attributes, ClientAuthentication, SecMech, SecMechList,
};
use zorb_giop::{Ior, Version};
use zorb_transport::Registry;

/// All forms of identity tokens that the specification has.
const IDENTITY_TYPES: u32 = 0xf;

/// Adds how clients authenticate to the mechanisms of each profile. One whose transport has no protection gets a mechanism
/// without a transport.
pub(super) fn publish(
    ior: &mut Ior,
    authentication: &Authentication,
    transports: &Registry,
) -> Result<(), EncodeError> {
    for profile in &mut ior.profiles {
        let Some((transport, Ok(mut body))) = read_profile(profile, transports) else {
            continue;
        };
        let is_list =
            |component: &TaggedComponent| component.tag == ComponentTag::CSI_SEC_MECH_LIST;
        let there = body.components.iter().position(is_list);
        let list = there.and_then(|at| body.components.get(at));
        let list = list.and_then(|component| SecMechList::from_component(&component.data).ok());
        let mut list = list.unwrap_or_else(|| SecMechList {
            stateful: false,
            mechanisms: vec![without_transport()],
        });
        add(&mut list, authentication);
        let component = list.to_component()?;
        match there.and_then(|at| body.components.get_mut(at)) {
            Some(there) => *there = component,
            None => body.components.push(component),
        }
        // Profiles of version 1.0 have no components.
        body.version = body.version.max(Version::V1_1);
        *profile = body.to_tagged(transport.addressing())?;
    }
    Ok(())
}

fn without_transport() -> SecMech {
    SecMech {
        requires: AssociationOptions::default(),
        transport: TaggedComponent {
            tag: ComponentTag::NULL_TAG,
            data: Bytes::new(),
        },
        client_authentication: ClientAuthentication::default(),
        attributes: Attributes::default(),
    }
}

fn add(list: &mut SecMechList, authentication: &Authentication) {
    let trust = AssociationOptions::ESTABLISH_TRUST_IN_CLIENT;
    let when = |is: bool, options| match is {
        true => options,
        false => AssociationOptions::default(),
    };
    list.stateful = authentication.is_stateful;
    for mechanism in &mut list.mechanisms {
        if authentication.takes_passwords() {
            let requires = when(authentication.is_required, trust);
            mechanism.client_authentication = ClientAuthentication {
                supports: trust,
                requires,
                mechanism: Bytes::from_static(oid::GSSUP),
                target_name: authentication.target_name(),
            };
            mechanism.requires = mechanism.requires | requires;
        }
        if authentication.takes_assertions() {
            mechanism.attributes = Attributes {
                supports: AssociationOptions::IDENTITY_ASSERTION,
                naming_mechanisms: vec![Bytes::from_static(oid::GSSUP)],
                identity_types: IDENTITY_TYPES,
                ..Attributes::default()
            };
        }
    }
}
