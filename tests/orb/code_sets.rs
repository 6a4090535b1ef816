//! Text between ORBs of every native code set, and with peers that state something else or
//! nothing at all.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zorb::{
    Bytes, Char, CharSet, Forward, Interface, Ior, Orb, SystemException,
    SystemExceptionKind as Kind,
};
use zorb::{CompletionStatus as Completed, WChar};
use zorb_cdr::{BigEndian, Encoder, LittleEndian, WireFormat};
use zorb_giop::codeset::{CodeSetComponent, CodeSetId, CodeSetInfo};
use zorb_giop::ior::{ComponentTag, IiopProfile, encapsulate};
use zorb_giop::{
    Limits, Message, Reader, ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags,
    ServiceContext, ServiceContextId, Version, minor,
};

zorb::idl! {
    module Texts {
        interface Echo {
            string narrow(in string a);
            char one(in char a);
            wstring wide(in wstring a);
            wchar wide_one(in wchar a);
            wstring widen(in string a);
            /// The octets of the text, as they were understood.
            unsigned long length(in string a);
        };
    };
}

use texts::{Echo, EchoRef, EchoServant};

struct Servant;

impl Echo for Servant {
    async fn narrow(&self, a: &str) -> Result<String, SystemException> {
        Ok(a.to_owned())
    }
    async fn one(&self, a: Char) -> Result<Char, SystemException> {
        Ok(a)
    }
    async fn wide(&self, a: &str) -> Result<String, SystemException> {
        Ok(a.to_owned())
    }
    async fn wide_one(&self, a: WChar) -> Result<WChar, SystemException> {
        Ok(a)
    }
    async fn widen(&self, a: &str) -> Result<String, SystemException> {
        Ok(a.to_owned())
    }
    async fn length(&self, a: &str) -> Result<u32, SystemException> {
        Ok(a.chars().count() as u32)
    }
}

const SETS: [CharSet; 2] = [CharSet::Utf8, CharSet::Latin1];

async fn server(native: CharSet) -> (Orb, IiopProfile) {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.native_char_code_set(native).build().await.unwrap();
    let echo = orb.root_poa().activate(EchoServant::new(Servant)).unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    let profile = IiopProfile::from_tagged(&echo.as_object().ior().profiles[0]).unwrap();
    (orb, profile)
}

/// A reference whose profile `change` has been at.
fn object(orb: &Orb, profile: &IiopProfile, change: impl FnOnce(&mut IiopProfile)) -> EchoRef {
    let mut profile = profile.clone();
    change(&mut profile);
    let ior = Ior {
        type_id: EchoRef::REPOSITORY_ID.to_owned(),
        profiles: vec![profile.to_tagged().unwrap()],
    };
    EchoRef::unchecked_narrow(orb.object(ior))
}

/// Lets the profile state `info`, or nothing.
fn state(profile: &mut IiopProfile, info: Option<CodeSetInfo>) {
    profile
        .components
        .retain(|component| component.tag != ComponentTag::CODE_SETS);
    let component = info.map(|info| info.to_component().unwrap());
    profile.components.extend(component);
}

fn of(sets: &[CodeSetId]) -> CodeSetComponent {
    CodeSetComponent {
        native: sets.first().copied(),
        conversion: sets.get(1..).unwrap_or_default().to_vec(),
    }
}

fn is<T: std::fmt::Debug>(
    outcome: Result<T, SystemException>,
    kind: Kind,
    minor: u32,
    completed: Completed,
) -> String {
    let e = outcome.unwrap_err();
    assert_eq!(
        (e.kind, e.minor, e.completed),
        (kind, minor, completed),
        "{e}"
    );
    e.to_string()
}

#[tokio::test]
async fn text_of_every_kind_goes_between_orbs_of_every_native_set() {
    for native in SETS {
        let (orb, profile) = server(native).await;
        let stated = profile.component(ComponentTag::CODE_SETS).unwrap();
        let stated = CodeSetInfo::from_component(stated).unwrap();
        assert_eq!(stated, CodeSetInfo::native_in(native));
        for ours in [None, Some(CharSet::Utf8), Some(CharSet::Latin1)] {
            let mut client = Orb::builder();
            if let Some(ours) = ours {
                client = client.native_char_code_set(ours);
            }
            let client = client.build().await.unwrap();
            let echo = object(&client, &profile, |_| {});
            for text in ["", "plain", "weiß"] {
                assert_eq!(echo.narrow(text).await.as_deref(), Ok(text));
                assert_eq!(echo.widen(text).await.as_deref(), Ok(text));
            }
            assert_eq!(echo.wide("Ж€𝄞").await.as_deref(), Ok("Ж€𝄞"));
            // The code set that the client's operator has named, else the server's native one.
            let (is_narrow, is_one) = match ours.unwrap_or(native) {
                CharSet::Latin1 => (false, true),
                _ => (true, false),
            };
            assert_eq!(
                echo.narrow("Ж€𝄞").await.is_ok(),
                is_narrow,
                "{native:?} {ours:?}"
            );
            assert_eq!(
                echo.one(Char(0xe4)).await.is_ok(),
                is_one,
                "{native:?} {ours:?}"
            );
            client.shutdown(true).await.unwrap();
        }
        orb.shutdown(true).await.unwrap();
    }
}

#[tokio::test]
async fn what_a_server_states_decides_what_travels() {
    use CodeSetId as C;
    let (orb, profile) = server(CharSet::Utf8).await;
    let client = Orb::builder().build().await.unwrap();
    let ebcdic = C(0x1002_0025);
    // The code sets of narrow text that references state, and whether the text is UTF-8 then.
    for (chars, utf8) in [
        (&[C::UTF8][..], true),
        (&[C::LATIN1, C::UTF8], false),
        (&[C::UTF8, C::LATIN1], true),
        (&[C::LATIN1], false),
        (&[ebcdic, C::LATIN1], false),
        (&[ebcdic, C::UTF8, C::LATIN1], true),
        (&[ebcdic], true),
    ] {
        let info = CodeSetInfo {
            char_data: of(chars),
            wchar_data: of(&[C::UTF16]),
        };
        let echo = object(&client, &profile, |p| state(p, Some(info)));
        assert_eq!(echo.narrow("weiß").await.as_deref(), Ok("weiß"));
        if utf8 {
            assert_eq!(echo.narrow("€").await.as_deref(), Ok("€"));
            let e = is(
                echo.one(Char(0xe4)).await,
                Kind::DataConversion,
                minor::CHARACTER_NOT_IN_CODE_SET,
                Completed::No,
            );
            assert!(e.contains("one octet of UTF-8, found U+00E4"), "{e}");
        } else {
            assert_eq!(echo.one(Char(0xe4)).await, Ok(Char(0xe4)));
            let e = is(
                echo.narrow("€").await,
                Kind::DataConversion,
                minor::CHARACTER_NOT_IN_CODE_SET,
                Completed::No,
            );
            assert!(e.contains("ISO 8859-1, found U+20AC"), "{e}");
        }
    }
    // And for wide text, in 1.1 as in 1.2.
    for version in [Version::V1_1, Version::V1_2] {
        for (wchars, surrogates) in [
            (&[C::UTF16][..], true),
            (&[C::UCS2, C::UTF16], true),
            (&[C::UCS2], false),
        ] {
            let info = CodeSetInfo {
                char_data: of(&[C::UTF8]),
                wchar_data: of(wchars),
            };
            let echo = object(&client, &profile, |p| {
                p.version = version;
                state(p, Some(info));
            });
            assert_eq!(echo.wide("Ж€").await.as_deref(), Ok("Ж€"));
            assert_eq!(echo.wide_one(WChar(0x20ac)).await, Ok(WChar(0x20ac)));
            assert_eq!(echo.wide("𝄞").await.is_ok(), surrogates);
        }
    }
    client.shutdown(true).await.unwrap();
    orb.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn wide_text_for_servers_without_a_set_for_it_is_refused_where_the_specification_says() {
    use CodeSetId as C;
    let (orb, profile) = server(CharSet::Utf8).await;
    let client = Orb::builder().build().await.unwrap();
    let narrow_only = || CodeSetInfo {
        char_data: of(&[C::UTF8]),
        wchar_data: of(&[]),
    };
    let no_wide = object(&client, &profile, |p| state(p, Some(narrow_only())));
    let nothing = object(&client, &profile, |p| state(p, None));
    let old = object(&client, &profile, |p| p.version = Version::V1_0);
    for (echo, kind, sent, in_reply) in [
        (
            no_wide,
            Kind::InvObjref,
            minor::NO_WIDE_SET_STATED,
            (Kind::BadParam, minor::NO_WCHAR_CODE_SET),
        ),
        (
            nothing,
            Kind::InvObjref,
            minor::NO_CODE_SETS_STATED,
            (Kind::BadParam, minor::NO_WCHAR_CODE_SET),
        ),
        (
            old,
            Kind::Marshal,
            minor::WIDE_OVER_1_0,
            (Kind::Marshal, minor::WIDE_RESULT_OVER_1_0),
        ),
    ] {
        is(echo.wide("a").await, kind, sent, Completed::No);
        is(echo.wide_one(WChar(1)).await, kind, sent, Completed::No);
        // The server has done its work, and cannot say so.
        is(
            echo.widen("a").await,
            in_reply.0,
            in_reply.1,
            Completed::Yes,
        );
        assert_eq!(echo.narrow("a").await.as_deref(), Ok("a"));
    }
    client.shutdown(true).await.unwrap();
    orb.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn peers_that_state_nothing_are_iso_8859_1_unless_said_otherwise() {
    for set in SETS {
        let server = Orb::builder().listen("iiop://127.0.0.1:0");
        let server = server.char_code_set_of_unstated_peers(set);
        let server = server.build().await.unwrap();
        let echo = server
            .root_poa()
            .activate(EchoServant::new(Servant))
            .unwrap();
        server.root_poa().the_poa_manager().activate().unwrap();
        let profile = IiopProfile::from_tagged(&echo.as_object().ior().profiles[0]).unwrap();
        let client = Orb::builder().char_code_set_of_unstated_peers(set);
        let client = client.build().await.unwrap();
        let echo = object(&client, &profile, |p| state(p, None));
        assert_eq!(echo.narrow("weiß").await.as_deref(), Ok("weiß"));
        assert_eq!(echo.length("weiß").await, Ok(4));
        assert_eq!(echo.narrow("€").await.is_ok(), set == CharSet::Utf8);
        client.shutdown(true).await.unwrap();
        server.shutdown(true).await.unwrap();
    }
}

#[tokio::test]
async fn a_corbaloc_carries_all_text_once_its_key_forwards_to_a_full_reference() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0");
    let server = server.build().await.unwrap();
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let echo: EchoRef = poa.activate(EchoServant::new(Servant)).unwrap();
    let door: EchoRef = poa.create_forward(Forward::to(&echo)).unwrap();
    server.key_table().bind("Plain", &echo).unwrap();
    server.key_table().bind("Door", &door).unwrap();
    let client = Orb::builder().build().await.unwrap();
    let find = async |key: &str, version: &str| {
        let url = server.corbaloc_url(key).unwrap().replace("1.2", version);
        assert!(url.contains(&format!(":{version}@")), "{url}");
        let object = client.string_to_object(&url).await.unwrap();
        object.narrow::<EchoRef>().await.unwrap().expect("an Echo")
    };
    for version in ["1.0", "1.2"] {
        let plain = find("Plain", version).await;
        let narrow = plain.narrow("Ж").await.unwrap_err();
        assert_eq!(narrow.kind, Kind::DataConversion);
        let wide = plain.wide("Ж").await.unwrap_err();
        assert_eq!(wide.completed, Completed::No);
        // It was asked for its type, and has said where it is.
        let full = find("Door", version).await;
        assert_eq!(full.narrow("Ж").await.as_deref(), Ok("Ж"));
        assert_eq!(full.wide("Ж").await.as_deref(), Ok("Ж"));
    }
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn text_of_a_server_that_mislabels_it_is_read_as_what_it_is() {
    // It states UTF-8 and takes what it gets for ISO 8859-1: it thinks that nothing was said.
    let (orb, profile) = server(CharSet::Utf8).await;
    let client = Orb::builder().char_code_set_of_unstated_peers(CharSet::Utf8);
    let client = client.build().await.unwrap();
    let echo = object(&client, &profile, |p| state(p, None));
    assert_eq!(
        echo.length("weiß").await,
        Ok(5),
        "two octets each read as one"
    );
    let honest = echo.as_object().with_char_code_set(CharSet::Latin1);
    let honest = EchoRef::unchecked_narrow(honest);
    assert_eq!(honest.length("weiß").await, Ok(4));
    assert_eq!(honest.narrow("weiß").await.as_deref(), Ok("weiß"));
    assert_eq!(honest.one(Char(0xe4)).await, Ok(Char(0xe4)));
    // The time limit and the set of a reference are kept together.
    let limited = honest
        .as_object()
        .with_round_trip_timeout(std::time::Duration::from_secs(60));
    let limited = EchoRef::unchecked_narrow(limited);
    assert_eq!(limited.length("weiß").await, Ok(4));
    client.shutdown(true).await.unwrap();
    orb.shutdown(true).await.unwrap();
}

/// Text on a connection has the agreed code set: a reference that wants another set has another connection.
#[tokio::test]
async fn a_reference_of_another_set_agrees_on_that() {
    for native in SETS {
        let (orb, profile) = server(native).await;
        let client = Orb::builder().build().await.unwrap();
        let echo = object(&client, &profile, |_| {});
        for (wanted, text, not) in [(CharSet::Latin1, "é", "€"), (CharSet::Utf8, "é€", "\u{0}")]
        {
            let wants = echo.as_object().with_char_code_set(wanted);
            let wants = EchoRef::unchecked_narrow(wants);
            // The server reads what was agreed on: octets of another set would be other text, or none.
            assert_eq!(wants.narrow(text).await.as_deref(), Ok(text));
            assert_eq!(wants.length(text).await, Ok(text.chars().count() as u32));
            wants.narrow(not).await.unwrap_err();
            assert_eq!(
                wants.one(Char(0xe9)).await.is_ok(),
                wanted == CharSet::Latin1
            );
            assert_eq!(wants.wide("Ж").await.as_deref(), Ok("Ж"));
        }
        let expected = native == CharSet::Utf8;
        assert_eq!(
            echo.narrow("€").await.is_ok(),
            expected,
            "others keep theirs"
        );
        client.shutdown(true).await.unwrap();
        orb.shutdown(true).await.unwrap();
    }
}

fn context(chars: u32, wchars: u32) -> ServiceContext {
    let write = |e: &mut Encoder<zorb_cdr::NativeEndian>| {
        e.write_u32(chars);
        e.write_u32(wchars);
        Ok(())
    };
    ServiceContext {
        id: ServiceContextId::CODE_SETS,
        data: encapsulate(write).unwrap(),
    }
}

/// One call of a client that says what it likes.
async fn call(
    stream: &mut TcpStream,
    key: &Bytes,
    operation: &str,
    contexts: &[ServiceContext],
    argument: &[u8],
) -> Result<Vec<u8>, SystemException> {
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 1,
        response: ResponseFlags::WithTarget,
        key,
        operation,
        contexts,
    }
    .encode(Encoder::<BigEndian>::new(WireFormat::default()), |e| {
        e.append(argument);
        Ok(())
    });
    stream.write_all(&request.unwrap().to_vec()).await.unwrap();
    let mut reader = Reader::new(Limits::default());
    let message: Message = loop {
        if let Some(message) = reader.next().unwrap() {
            break message;
        }
        reader.reserve().unwrap();
        assert_ne!(stream.read_buf(reader.buffer()).await.unwrap(), 0);
    };
    let header = ReplyHeader::read(&message).unwrap();
    let body = &message.frame.octets()[header.body..];
    match header.status {
        ReplyStatus::NoException => Ok(body.to_vec()),
        _ => {
            let d = zorb_cdr::Decoder::<LittleEndian>::at(
                &message.frame,
                header.body,
                WireFormat::default(),
            );
            Err(d.unwrap().get().unwrap())
        }
    }
}

#[tokio::test]
async fn what_a_client_chooses_holds_for_its_connection() {
    let (orb, profile) = server(CharSet::Utf8).await;
    let connect = || TcpStream::connect(("127.0.0.1", profile.address.port));
    let key = &profile.object_key;
    let (utf8, latin1) = (CodeSetId::UTF8.0, CodeSetId::LATIN1.0);
    let (utf16, ucs2) = (CodeSetId::UTF16.0, CodeSetId::UCS2.0);
    let text = [0, 0, 0, 2, 0xe4, 0];
    let wide = [0, 0, 0, 2, 0x04, 0x16];

    // Nothing is said: ISO 8859-1, and no wide text.
    let mut raw = connect().await.unwrap();
    assert!(call(&mut raw, key, "length", &[], &text).await.is_ok());
    let refused = call(&mut raw, key, "wide", &[], &wide).await;
    is(
        refused,
        Kind::BadParam,
        minor::NO_WCHAR_CODE_SET,
        Completed::No,
    );

    // The code sets of a connection hold: they may be repeated and completed, and not changed.
    let said = [context(latin1, 0)];
    assert!(call(&mut raw, key, "length", &said, &text).await.is_ok());
    let said = [context(latin1, utf16)];
    assert!(call(&mut raw, key, "wide", &said, &wide).await.is_ok());
    assert!(call(&mut raw, key, "wide", &[], &wide).await.is_ok());
    for other in [
        context(utf8, utf16),
        context(latin1, ucs2),
        context(latin1, 0),
    ] {
        let changed = call(&mut raw, key, "length", &[other], &text).await;
        is(
            changed,
            Kind::Marshal,
            minor::CODE_SETS_CHANGED,
            Completed::No,
        );
    }
    assert!(call(&mut raw, key, "length", &[], &text).await.is_ok());

    // Octets that are none of the set chosen.
    let mut raw = connect().await.unwrap();
    let said = [context(utf8, utf16)];
    let bad = call(&mut raw, key, "length", &said, &text).await;
    is(
        bad,
        Kind::DataConversion,
        minor::CHARACTER_NOT_IN_CODE_SET,
        Completed::No,
    );
    // UTF-16 with either mark and without, and UCS-2 in the order of the message.
    for wide in [
        &[0, 0, 0, 2, 0x04, 0x16][..],
        &[0, 0, 0, 4, 0xfe, 0xff, 0x04, 0x16],
        &[0, 0, 0, 4, 0xff, 0xfe, 0x16, 0x04],
    ] {
        assert_eq!(
            call(&mut raw, key, "wide", &[], wide).await.unwrap(),
            [2, 0, 0, 0, 0x04, 0x16],
        );
    }
    let mut raw = connect().await.unwrap();
    let said = [context(utf8, ucs2)];
    // Its reply has the order of our host.
    assert_eq!(
        call(&mut raw, key, "wide", &said, &[0, 0, 0, 2, 0x04, 0x16])
            .await
            .unwrap(),
        [2, 0, 0, 0, 0x16, 0x04],
    );

    // A set that this server does not have.
    let mut raw = connect().await.unwrap();
    for unknown in [context(0x1002_0025, utf16), context(utf8, 0x0001_0104)] {
        let refused = call(&mut raw, key, "length", &[unknown], &text).await;
        is(
            refused,
            Kind::CodesetIncompatible,
            minor::UNSUPPORTED_CODE_SET,
            Completed::No,
        );
    }
    orb.shutdown(true).await.unwrap();
}
