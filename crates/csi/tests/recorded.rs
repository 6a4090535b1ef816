//! What JacORB 3.9 says: `tests/wire/jacorb-3.9-giop1.2-csi.hex`, recorded between two programs of its own.

use std::path::Path;
use zorb_csi::gss::{oid, unwrap};
use zorb_csi::gssup::{ErrorCode, InitialContextToken};
use zorb_csi::server::{Admission, Settings};
use zorb_csi::{
    ContextId, EstablishContext, IdentityToken, SasContext, Secret, ServerContexts, Status,
};
use zorb_giop::{
    Limits, MessageKind, Reader, ReplyHeader, ReplyStatus, RequestHeader, ServiceContextId,
};

/// One message with a SAS context: whether it is a request, the context, and how a reply ends.
struct Spoken {
    context: SasContext,
    status: Option<ReplyStatus>,
}

/// The messages of each connection. Every context is written again, and has to have the same octets.
fn conversations() -> Vec<Vec<Spoken>> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/wire/jacorb-3.9-giop1.2-csi.hex");
    let text = std::fs::read_to_string(file).unwrap();
    (text.split("# ---- connection"))
        .map(|connection| connection.lines().filter_map(spoken).collect())
        .filter(|messages: &Vec<_>| !messages.is_empty())
        .collect()
}

fn spoken(line: &str) -> Option<Spoken> {
    let digits = (line.strip_prefix("> ")).or_else(|| line.strip_prefix("< "))?;
    let octets: Vec<u8> = (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let mut reader = Reader::new(Limits::default());
    reader.buffer().extend_from_slice(&octets);
    let message = reader.next().unwrap().unwrap();
    let id = ServiceContextId(15);
    let (data, status) = match message.header.kind {
        MessageKind::Request => (
            RequestHeader::read(&message).unwrap().contexts.get(id),
            None,
        ),
        MessageKind::Reply => {
            let header = ReplyHeader::read(&message).unwrap();
            (header.contexts.get(id), Some(header.status))
        }
        _ => (None, None),
    };
    let context = SasContext::from_octets(data?).unwrap();
    assert_eq!(context.to_octets().unwrap().expose(), data?, "{context:?}");
    Some(Spoken { context, status })
}

fn evidence(spoken: &Spoken) -> (ContextId, &Secret) {
    match &spoken.context {
        SasContext::Establish(EstablishContext {
            id,
            authorization,
            identity: IdentityToken::Absent,
            authentication,
        }) if authorization.is_empty() => (*id, authentication),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stateful_client_of_jacorb_refers_to_the_context_that_its_server_has_kept() {
    let conversations = conversations();
    let [first, accepted, second, ..] = &conversations[0][..] else {
        panic!("too short");
    };
    let (id, token) = evidence(first);
    assert_eq!(id, ContextId(1));
    let token = InitialContextToken::from_token(token.expose()).unwrap();
    assert_eq!(token.username, "alice");
    assert_eq!(token.password, "secret of alice".into());
    assert_eq!(accepted.context, SasContext::complete(id, true));
    assert_eq!(accepted.status, Some(ReplyStatus::NoException));
    let discard = false;
    assert_eq!(second.context, SasContext::Message { id, discard });
}

#[test]
fn a_stateless_client_of_jacorb_sends_its_evidence_each_time() {
    let conversations = conversations();
    let sent: Vec<_> = (conversations[1].iter())
        .filter(|spoken| spoken.status.is_none())
        .map(evidence)
        .collect();
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|(id, _)| *id == ContextId::STATELESS));
}

#[test]
fn a_token_of_jacorbs_that_is_longer_than_127_octets_is_read_by_us_alone() {
    let long = conversations().into_iter().find_map(|mut connection| {
        let (id, token) = evidence(connection.first()?);
        let is_long = token.expose().len() > 129;
        let token = token.clone();
        is_long.then(|| (id, token, connection.swap_remove(1)))
    });
    let (id, token, answer) = long.expect("a long token");
    // In groups of seven bits; of DER it would be 0x81 and the whole length.
    assert_eq!(token.expose()[1], 0x81);
    let (mechanism, _) = unwrap(token.expose()).unwrap();
    assert_eq!(mechanism, oid::GSSUP);
    let token = InitialContextToken::from_token(token.expose()).unwrap();
    assert_eq!(token.username, "m".repeat(100));
    let SasContext::Error(error) = answer.context else {
        panic!("JacORB reads it");
    };
    assert_eq!((error.id, error.status), (id, Status::INVALID_EVIDENCE));
}

#[test]
fn a_password_that_jacorb_refuses_comes_back_with_the_refusal() {
    let refused: Vec<_> = conversations()
        .into_iter()
        .filter_map(|mut connection| {
            let token = evidence(&connection[0]).1.clone();
            let name = InitialContextToken::from_token(token.expose()).unwrap();
            (name.username == "mallory").then(|| (token, connection.swap_remove(1)))
        })
        .collect();
    assert!(refused.len() >= 2);
    for (token, answer) in refused {
        let SasContext::Error(error) = answer.context else {
            panic!("JacORB accepts it");
        };
        assert_eq!(answer.status, Some(ReplyStatus::SystemException));
        assert_eq!(error.status, Status::INVALID_EVIDENCE);
        assert_eq!(error.token, token);
        assert_eq!(ErrorCode::from_token(error.token.expose()), None);
    }
}

#[test]
fn the_requests_of_jacorbs_clients_are_admitted() {
    for connection in conversations() {
        let mut contexts = ServerContexts::new(Settings::new([0; 32]));
        for spoken in connection {
            if spoken.status.is_some() {
                continue;
            }
            match contexts.request(spoken.context) {
                Admission::Verify(verification, _) => {
                    let _reply = contexts.verified(&verification, Ok(()));
                }
                Admission::Accepted((), None) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}
