//! The client's side: an interceptor that says who calls.

use super::credentials::Parts;
use super::{Credentials, SECURITY, is_protected};
use crate::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, ComponentTag, Interception, Interrupt,
};
use crate::object::{Binding, Remote, Target};
use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};
use zorb_connection::ClientConnection;
use zorb_csi::client::{Answer, Carried};
use zorb_csi::gss::oid;
use zorb_csi::gssup::InitialContextToken;
use zorb_csi::{
    ClientContexts, EstablishContext, IdentityToken, IdentityTypes, SasContext, Secret, TokenError,
};
use zorb_giop::security::{AssociationOptions, SecMech, SecMechList};
use zorb_giop::{CompletionStatus, Fault, ServiceContext, SystemException};

/// The interceptor of the calls that an ORB makes.
#[derive(Debug)]
pub(super) struct ClientSide;

/// Credentials for a mechanism: what has one context on a connection. A server with several names has several mechanisms.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    credentials: Credentials,
    target_name: Bytes,
}

/// What is kept of a connection.
type ConnectionContexts = Mutex<ClientContexts<Identity>>;

/// What a request sends: by which mechanism, and whether the server keeps contexts.
struct Chosen {
    identity: Identity,
    sends_password: bool,
    is_stateful: bool,
    /// Whether the server refuses requests without it, or would take them for another's.
    is_needed: bool,
}

impl ClientRequestInterceptor for ClientSide {
    fn name(&self) -> &str {
        "zorb::csi"
    }

    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        send(info).into()
    }

    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        // A reply without an exception refuses nothing.
        let _answer = answered(info);
        Interception::CONTINUE
    }

    fn receive_exception<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        receive_exception(info).into()
    }

    fn receive_other<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let _answer = answered(info);
        Interception::CONTINUE
    }
}

/// The connection of a request to an object of another ORB.
fn connection<'a>(info: &ClientRequestInfo<'a>) -> Option<&'a Arc<ClientConnection>> {
    match info.binding {
        Some(Binding {
            target: Target::Remote(Remote { connection, .. }),
            ..
        }) => Some(connection),
        _ => None,
    }
}

/// The credentials of a call, if it has any.
fn credentials(info: &ClientRequestInfo<'_>) -> Option<Credentials> {
    let credentials = (info.target.levels()).get(|policies| policies.credentials.clone())?;
    let parts = credentials.parts();
    let is_none = parts.login.is_none() && parts.identity == IdentityToken::Absent;
    (!is_none).then_some(credentials)
}

/// The mechanisms of the profile that a request goes by.
fn mechanisms(info: &ClientRequestInfo<'_>) -> Option<SecMechList> {
    let component = info.effective_component(ComponentTag::CSI_SEC_MECH_LIST);
    SecMechList::from_component(&component.ok()?.data).ok()
}

fn send(info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
    let Some(connection) = connection(info) else {
        return Ok(());
    };
    let Some(credentials) = credentials(info) else {
        return Ok(());
    };
    // Nothing is sent to a server that does not ask for it.
    let list = mechanisms(info).unwrap_or_default();
    let Some(chosen) = choose(&credentials, list)? else {
        return Ok(());
    };
    let parts = credentials.parts();
    let transports = info.orb().inner().transports();
    if !parts.is_for_unprotected
        && !is_protected(connection.endpoint(), connection.peer(), transports)
    {
        let (is_needed, endpoint) = (chosen.is_needed, connection.endpoint());
        let why = format!(
            "no credentials are sent to {endpoint}, where others can read them: \
             Credentials::also_over_unprotected_connections"
        );
        return match is_needed {
            true => Err(Fault::CredentialsWithheld(why)
                .raise(CompletionStatus::No)
                .into()),
            false => Ok(()),
        };
    }
    let Some(contexts) = (connection.kept()).get_or_init(ConnectionContexts::default) else {
        return Ok(());
    };
    let carried = (contexts.lock())
        .unwrap_or_else(PoisonError::into_inner)
        .begin(&chosen.identity, chosen.is_stateful);
    let context = match carried {
        Carried::Reference(id) => SasContext::Message { id, discard: false },
        Carried::Evidence(id) => SasContext::Establish(EstablishContext {
            id,
            authorization: Vec::new(),
            identity: parts.identity.clone(),
            authentication: match chosen.sends_password {
                true => token(parts, chosen.identity.target_name)?,
                false => Secret::default(),
            },
        }),
    };
    let data = context.to_octets().map_err(not_written)?;
    let data = Bytes::from_owner(data);
    info.add_request_service_context(ServiceContext { id: SECURITY, data }, true)?;
    Ok(())
}

/// The first mechanism by which the credentials can be sent; `None` if the server asks for none.
///
/// # Errors
/// NO_PERMISSION if the server takes no asserted identity of this form: without it, the call would be in another's name.
fn choose(credentials: &Credentials, list: SecMechList) -> Result<Option<Chosen>, SystemException> {
    let parts = credentials.parts();
    let is_stateful = list.stateful;
    let chosen = list.mechanisms.into_iter().find_map(|mechanism| {
        let (sends_password, is_needed) = usable(parts, &mechanism)?;
        Some(Chosen {
            identity: Identity {
                credentials: credentials.clone(),
                target_name: mechanism.client_authentication.target_name,
            },
            sends_password,
            is_stateful,
            is_needed,
        })
    });
    if chosen.is_none() && parts.identity != IdentityToken::Absent {
        let why = "the server takes no asserted identity of this form".to_owned();
        return Err(Fault::CredentialsWithheld(why).raise(CompletionStatus::No));
    }
    Ok(chosen)
}

/// Whether the password is sent by a mechanism, and whether the server needs what is sent; `None` if nothing can be sent.
fn usable(parts: &Parts, mechanism: &SecMech) -> Option<(bool, bool)> {
    let login = &mechanism.client_authentication;
    let trust = AssociationOptions::ESTABLISH_TRUST_IN_CLIENT;
    let takes_password = login.supports.contains(trust) && login.mechanism == oid::GSSUP;
    let sends_password = takes_password && parts.login.is_some();
    let needs_password = login.requires.contains(trust);
    if needs_password && !sends_password {
        return None;
    }
    if parts.identity == IdentityToken::Absent {
        return sends_password.then_some((true, needs_password));
    }
    let asserted = &mechanism.attributes;
    let takes = asserted
        .supports
        .contains(AssociationOptions::IDENTITY_ASSERTION)
        && IdentityTypes(asserted.identity_types).contains(parts.identity.kind());
    takes.then_some((sends_password, true))
}

fn token(parts: &Parts, target_name: Bytes) -> Result<Secret, SystemException> {
    let Some((username, password)) = &parts.login else {
        return Ok(Secret::default());
    };
    let token = InitialContextToken {
        username: username.clone(),
        password: password.clone(),
        target_name,
    };
    token.to_token().map_err(not_written)
}

fn not_written(error: TokenError) -> SystemException {
    Fault::CredentialsWithheld(error.to_string()).raise(CompletionStatus::No)
}

/// What a reply means for the context that its request has carried; `None` if neither had one.
fn answered(info: &ClientRequestInfo<'_>) -> Option<Answer> {
    let reply = info.reply_service_context(SECURITY).ok()?;
    let sent = info.request_service_context(SECURITY).ok()?;
    let carried = match SasContext::from_octets(&sent.data).ok()? {
        SasContext::Establish(evidence) => Carried::Evidence(evidence.id),
        SasContext::Message { id, .. } => Carried::Reference(id),
        SasContext::Complete { .. } | SasContext::Error(_) => return None,
    };
    let credentials = credentials(info)?;
    let chosen = choose(&credentials, mechanisms(info)?).ok()??;
    let contexts = (connection(info)?.kept()).get_or_init(ConnectionContexts::default)?;
    let reply = SasContext::from_octets(&reply.data).ok();
    let mut contexts = contexts.lock().unwrap_or_else(PoisonError::into_inner);
    Some(contexts.answered(&chosen.identity, carried, reply.as_ref()))
}

fn receive_exception(info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
    match answered(info) {
        Some(Answer::SendAgain) => Err(Interrupt::Forward(info.effective_target())),
        Some(Answer::Refused(status)) => match info.received_system_exception()? {
            Some(exception) => {
                let why = format!("the server refuses the credentials: {status}");
                Err(exception.clone().with_local_detail(why).into())
            }
            None => Ok(()),
        },
        Some(Answer::Accepted) | None => Ok(()),
    }
}
