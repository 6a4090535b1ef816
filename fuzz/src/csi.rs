//! Security contexts of CSIv2: what was read can be written and reads the same again, and a server's contexts stay few.

use std::hint::black_box;
use zorb_csi::gss::{ExportedName, join_scope, split_scope, unwrap, wrap};
use zorb_csi::gssup::{ErrorCode, InitialContextToken};
use zorb_csi::server::{Admission, Settings};
use zorb_csi::{
    AuthorizationElement, ContextId, EstablishContext, IdentityToken, SasContext, ServerContexts,
    Status,
};

/// Takes the octets for everything in one, and for requests of a client.
pub fn run(data: &[u8]) {
    token(data);
    name(data);
    if let Ok(context) = SasContext::from_octets(data) {
        let octets = context.to_octets().expect("what was read can be written");
        assert_eq!(
            SasContext::from_octets(octets.expose()).as_ref(),
            Ok(&context)
        );
        match &context {
            SasContext::Establish(context) => {
                token(context.authentication.expose());
                identity(&context.identity);
            }
            SasContext::Error(error) => token(error.token.expose()),
            _ => {}
        }
    }
    requests(data);
}

fn token(octets: &[u8]) {
    if let Ok((mechanism, inner)) = unwrap(octets) {
        let token = wrap(mechanism, inner);
        assert_eq!(unwrap(&token), Ok((mechanism, inner)));
    }
    if let Ok(token) = InitialContextToken::from_token(octets) {
        let octets = token.to_token().expect("what was read can be written");
        assert!(octets.expose().len() <= token.token_size());
        let again = InitialContextToken::from_token(octets.expose());
        assert_eq!(again.as_ref(), Ok(&token));
        let (user, scope) = split_scope(&token.username);
        let joined = join_scope(&user, scope.as_deref());
        assert_eq!(split_scope(&joined), (user, scope));
        name(&token.target_name);
    }
    let _ = ErrorCode::from_token(octets);
}

fn name(octets: &[u8]) {
    if let Ok(name) = ExportedName::from_octets(octets) {
        let octets = name.to_octets().expect("what was read can be written");
        assert_eq!(ExportedName::from_octets(&octets), Ok(name));
    }
}

fn identity(token: &IdentityToken) {
    let _ = token.principal_name();
    if let Ok(certificates) = token.certificates() {
        let octets: usize = certificates.iter().map(|one| one.len()).sum();
        assert!(matches!(token, IdentityToken::X509CertChain(chain) if octets <= chain.len()));
    }
}

/// Takes two octets for a request: what it is, and its id and evidence.
fn requests(data: &[u8]) {
    let mut contexts = ServerContexts::new(Settings::new([1; 32]));
    let mut verifications = Vec::new();
    for step in data.chunks_exact(2) {
        let (id, evidence) = (ContextId(u64::from(step[1] & 0x7f)), step[0] >> 6);
        let context = match step[0] & 3 {
            0 => SasContext::Message {
                id,
                discard: evidence & 1 == 1,
            },
            1 => evidence_of(id, usize::from(evidence)),
            end => {
                if !verifications.is_empty() {
                    let at = usize::from(step[1]) % verifications.len();
                    let verification = verifications.swap_remove(at);
                    let outcome = match evidence & 1 {
                        0 => Ok(()),
                        _ => Err(Status::INVALID_EVIDENCE),
                    };
                    match end {
                        2 => drop(contexts.verified(&verification, outcome)),
                        _ => contexts.abandoned(&verification),
                    }
                }
                continue;
            }
        };
        match contexts.request(context) {
            Admission::Verify(verification, evidence) => {
                assert_eq!(evidence.id, id);
                verifications.push(verification);
            }
            Admission::Accepted((), reply) => {
                assert!(reply.is_none_or(|reply| reply == SasContext::complete(id, true)));
            }
            Admission::Refused(SasContext::Error(error)) => assert_eq!(error.id, id),
            Admission::Refused(other) => panic!("{other:?}"),
            // Somebody is there who will end it.
            Admission::Wait(_) => assert!(!verifications.is_empty()),
        }
    }
}

fn evidence_of(id: ContextId, octets: usize) -> SasContext {
    SasContext::Establish(EstablishContext {
        id,
        authorization: Vec::new(),
        identity: IdentityToken::Absent,
        authentication: vec![b'x'; octets].into(),
    })
}

/// For [`work`](crate::work): a context of so many octets, half in statements about privileges, half in a chain of certificates.
pub fn work(octets: usize) -> Box<dyn FnOnce()> {
    let authorization = (0..octets / 2 / 12).map(|_| AuthorizationElement {
        kind: 1,
        element: bytes::Bytes::from_static(b"abcd"),
    });
    let certificates = b"\x30\x02ab".repeat(octets / 2 / 4);
    let length = u32::try_from(certificates.len())
        .expect("few")
        .to_be_bytes();
    let chain = [&[0x30, 0x84][..], &length, &certificates].concat();
    let context = SasContext::Establish(EstablishContext {
        id: ContextId(1),
        authorization: authorization.collect(),
        identity: IdentityToken::X509CertChain(chain.into()),
        authentication: b"secret"[..].into(),
    });
    let octets = context.to_octets().expect("short");
    Box::new(move || {
        let read = SasContext::from_octets(octets.expose()).expect("a context");
        let SasContext::Establish(context) = &read else {
            panic!("{read:?}");
        };
        black_box(context.identity.certificates().expect("certificates"));
        let mut contexts = ServerContexts::<()>::new(Settings::new([1; 32]));
        let _admission = black_box(contexts.request(read));
    })
}
