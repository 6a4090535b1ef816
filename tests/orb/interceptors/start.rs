//! What begins with an ORB: initialisers, IOR interceptors, policy factories, codecs.

use super::{Seen, Servant, TillRef, TillServant};
use std::sync::Arc;
use zorb::codec::{CodecError, Encoding, UnknownEncoding};
use zorb::interceptors::{
    AdapterState, ClientRequestInfo, ClientRequestInterceptor, ComponentTag, Interception, IorInfo,
    IorInterceptor, OrbInitInfo, OrbInitializer, PostInit, ProfileTag, ServerRequestInfo,
    ServerRequestInterceptor, TaggedComponent, register_orb_initializer,
};
use zorb::policy::{OtherPolicy, Policy, PolicyError, PolicyFactory, PolicyOverrides, PolicyType};
use zorb::{
    Any, Bytes, Error, Interface, Orb, Policies, SystemException, SystemExceptionKind as Kind,
    TypeCode, Version, minor,
};

const TAG: ComponentTag = ComponentTag(0x5445_5301);
const OF_UIOP: ComponentTag = ComponentTag(0x5445_5302);

fn component(tag: ComponentTag, text: &str) -> TaggedComponent {
    let data = format!("\0{text}").into();
    TaggedComponent { tag, data }
}

struct Ior(Seen);

impl IorInterceptor for Ior {
    fn establish_components(&self, info: &mut IorInfo<'_>) {
        let path = info.adapter_name().join("/");
        self.0
            .note(format!("establish {path:?} {:?}", info.state()));
        if path == "breaks" {
            panic!("no components today");
        }
        info.add_ior_component(component(TAG, &path));
        let there =
            info.add_ior_component_to_profile(component(OF_UIOP, "iiop"), ProfileTag::INTERNET_IOP);
        there.unwrap();
        let missing = info.add_ior_component_to_profile(component(OF_UIOP, ""), ProfileTag(4711));
        let missing = missing.unwrap_err();
        assert_eq!(
            (missing.kind, missing.minor),
            (Kind::BadParam, minor::BAD_PROFILE_ID)
        );
    }

    fn components_established(&self, info: &IorInfo<'_>) -> Result<(), SystemException> {
        match info.adapter_name() {
            [name] if name == "refused" => Err(SystemException::no_permission("not this one")),
            _ => Ok(()),
        }
    }

    fn adapter_manager_state_changed(&self, manager_id: &str, state: AdapterState) {
        self.0.note(format!("{manager_id} {state:?}"));
    }

    fn adapter_state_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        self.0.note(format!("{adapters:?} {state:?}"));
    }
}

/// Reads the component of the object that is called.
struct Components(Seen);

impl ClientRequestInterceptor for Components {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let own = info.effective_component(TAG).unwrap();
        let all = info.effective_components(OF_UIOP).unwrap();
        self.0.note(format!("{:?} {}", own.data, all.len()));
        let missing = info.effective_component(ComponentTag(4711)).unwrap_err();
        assert_eq!(
            (missing.kind, missing.minor),
            (Kind::BadParam, minor::BAD_COMPONENT_ID)
        );
        Interception::CONTINUE
    }
}

#[tokio::test]
async fn references_of_a_poa_have_the_components_of_its_interceptors() {
    let seen = Seen::default();
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .ior_interceptor(Ior(seen.clone()))
        .build()
        .await
        .unwrap();
    // The root, and the POA of plain keys.
    assert_eq!(
        seen.take(),
        ["establish \"\" Holding", "establish \"INSPOA\" Holding"]
    );
    let root = server.root_poa();
    root.the_poa_manager().activate().unwrap();
    let id = root.the_poa_manager().id().to_owned();
    assert_eq!(seen.take(), [format!("{id} Active")]);
    let child = root.create_poa_with("child", Policies::default(), Some(root.the_poa_manager()));
    let child = child.unwrap();
    assert_eq!(seen.take(), ["establish \"child\" Active"]);
    let till: TillRef = child.activate(TillServant::new(Servant)).unwrap();
    let client = Orb::builder()
        .client_interceptor(Components(seen.clone()))
        .build()
        .await
        .unwrap();
    let far = client.string_to_object(&till.to_string()).await.unwrap();
    let far: TillRef = far.unchecked_narrow();
    far.pass().await.unwrap();
    assert_eq!(seen.take(), ["b\"\\0child\" 1"]);
    let refused = root
        .create_poa_with("refused", Policies::default(), None)
        .unwrap_err();
    let Error::System(refused) = refused else {
        panic!("{refused}");
    };
    assert_eq!(
        (refused.kind, refused.minor),
        (Kind::ObjAdapter, minor::COMPONENTS_ESTABLISHED_FAILED)
    );
    assert!(root.find_poa("refused").is_none());
    // An interceptor that panics establishes nothing.
    root.create_poa_with("breaks", Policies::default(), None)
        .unwrap();
    seen.take();
    child.destroy();
    assert_eq!(seen.take(), ["[[\"child\"]] NonExistent"]);
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

const COLOUR: PolicyType = PolicyType(0x5445_5301);

struct Colours;

impl PolicyFactory for Colours {
    fn create_policy(&self, policy_type: PolicyType, value: &Any) -> Result<Policy, PolicyError> {
        Ok(Policy::Other(OtherPolicy::new(policy_type, value.clone())))
    }
}

/// States the colour of a POA in its references, and reads it at each request.
struct Painted(Seen);

impl IorInterceptor for Painted {
    fn establish_components(&self, info: &mut IorInfo<'_>) {
        if let Some(colour) = info.policy(COLOUR) {
            info.add_ior_component(component(TAG, &colour.value().to_string()));
        }
    }
}

impl ClientRequestInterceptor for Painted {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let stated = info.effective_component(TAG);
        self.0.note(match stated {
            Ok(colour) => String::from_utf8_lossy(&colour.data).into_owned(),
            Err(_) => "unstated".to_owned(),
        });
        Interception::CONTINUE
    }
}

impl ServerRequestInterceptor for Painted {
    fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        self.0.note(match info.server_policy(COLOUR) {
            Ok(colour) => colour.value().to_string(),
            Err(error) => {
                assert_eq!(
                    (error.kind, error.minor),
                    (Kind::InvPolicy, minor::INVALID_POLICY_TYPE)
                );
                "none".to_owned()
            }
        });
        Interception::CONTINUE
    }
}

#[tokio::test]
async fn a_poa_has_policies_of_the_application_which_interceptors_read() {
    let seen = Seen::default();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .initializer(Begins(seen.clone(), "one"))
        .ior_interceptor(Painted(seen.clone()))
        .server_interceptor(Painted(seen.clone()))
        .build()
        .await
        .unwrap();
    let root = orb.root_poa();
    root.the_poa_manager().activate().unwrap();
    let red = orb
        .create_policy(COLOUR, &Any::new(&1_i32).unwrap())
        .unwrap();
    let Policy::Other(red) = red else {
        panic!("{red:?}");
    };
    let manager = Some(root.the_poa_manager());
    let painted = root
        .create_poa_of_policies("painted", Policies::default(), [red.clone()], manager)
        .unwrap();
    assert_eq!(painted.policy(COLOUR), Some(&red));
    assert_eq!(root.policy(COLOUR), None);
    seen.take();
    let client = Orb::builder().client_interceptor(Painted(seen.clone()));
    let client = client.build().await.unwrap();
    let value = red.value();
    for (poa, noted) in [
        (&painted, [format!("\0{value}"), value.to_string()]),
        (&root, ["unstated".to_owned(), "none".to_owned()]),
    ] {
        let till: TillRef = poa.activate(TillServant::new(Servant)).unwrap();
        let far = client.string_to_object(&till.to_string()).await.unwrap();
        let far: TillRef = far.unchecked_narrow();
        far.pass().await.unwrap();
        assert_eq!(seen.take(), noted);
    }
    client.shutdown(true).await.unwrap();
    orb.shutdown(true).await.unwrap();
}

/// An initialiser that registers one of everything.
struct Begins(Seen, &'static str);

impl OrbInitializer for Begins {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        self.0.note(format!("{} pre {:?}", self.1, info.orb_id()));
        assert!(info.orb().is_none());
        if self.1 == "fails" {
            return Err(SystemException::initialize("no"));
        }
        info.initial_reference(self.1, "corbaloc::127.0.0.1:1/Somewhere")?;
        Ok(())
    }

    fn post_init<'a>(&'a self, info: &'a mut OrbInitInfo<'_>) -> PostInit<'a> {
        Box::pin(async move {
            self.0.note(format!("{} post", self.1));
            let orb = info.orb().expect("it is there");
            orb.resolve_initial_references(self.1).await.unwrap();
            let late = info.initial_reference("late", "").unwrap_err();
            assert_eq!(late.minor, minor::WRONG_INTERCEPTION_POINT);
            if self.1 == "one" {
                info.register_policy_factory(COLOUR, Arc::new(Colours))?;
                let twice = info
                    .register_policy_factory(COLOUR, Arc::new(Colours))
                    .unwrap_err();
                assert_eq!(
                    (twice.kind, twice.minor),
                    (Kind::BadInvOrder, minor::POLICY_FACTORY_PRESENT)
                );
            }
            info.add_client_request_interceptor(Arc::new(Coloured(self.0.clone())));
            Ok(())
        })
    }
}

/// Reads a policy of the application's.
struct Coloured(Seen);

impl ClientRequestInterceptor for Coloured {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let colour = info.request_policy(COLOUR);
        self.0.note(match colour {
            Ok(Policy::Other(colour)) => format!("{}", colour.value()),
            Ok(other) => format!("{other:?}"),
            Err(error) => {
                assert_eq!(
                    (error.kind, error.minor),
                    (Kind::InvPolicy, minor::INVALID_POLICY_TYPE)
                );
                "none".to_owned()
            }
        });
        Interception::CONTINUE
    }
}

#[tokio::test]
async fn initialisers_run_before_and_behind_the_start_in_their_order() {
    let seen = Seen::default();
    let orb = Orb::builder()
        .id("bank")
        .listen("iiop://127.0.0.1:0")
        .initializer(Begins(seen.clone(), "one"))
        .initializer(Begins(seen.clone(), "two"))
        .build()
        .await
        .unwrap();
    assert_eq!(
        seen.take(),
        [
            "one pre \"bank\"",
            "two pre \"bank\"",
            "one post",
            "two post"
        ]
    );
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let till = poa.activate(TillServant::new(Servant)).unwrap();
    till.pass().await.unwrap();
    assert_eq!(seen.take(), ["none", "none"]);
    let red = orb
        .create_policy(COLOUR, &Any::new("red").unwrap())
        .unwrap();
    let policies = PolicyOverrides::from_policies(std::slice::from_ref(&red)).unwrap();
    till.with_policies(&policies).pass().await.unwrap();
    assert_eq!(seen.take(), ["\"red\"", "\"red\""]);
    assert_eq!(
        till.as_object().with_policies(&policies).policy(COLOUR),
        Some(red)
    );
    // A type of the ORB's own needs no factory; others have none here.
    let scope = orb.create_policy(PolicyType::SYNC_SCOPE, &Any::new(&2_i16).unwrap());
    assert!(matches!(scope, Ok(Policy::SyncScope(_))));
    assert!(
        orb.create_policy(PolicyType(4711), &Any::new(&2_i16).unwrap())
            .is_err()
    );
    orb.shutdown(true).await.unwrap();
    let failed = Orb::builder()
        .initializer(Begins(seen.clone(), "fails"))
        .build()
        .await;
    let Err(Error::System(failed)) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(failed.kind, Kind::Initialize);
}

/// Of all ORBs of this process with one name.
struct Everywhere(Seen);

impl OrbInitializer for Everywhere {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        if info.orb_id() == "registered for the process" {
            self.0.note("pre".to_owned());
        }
        Ok(())
    }
}

#[tokio::test]
async fn an_initialiser_of_the_process_takes_part_in_each_later_start() {
    let seen = Seen::default();
    register_orb_initializer(Arc::new(Everywhere(seen.clone())));
    for _ in 0..2 {
        let orb = Orb::builder()
            .id("registered for the process")
            .build()
            .await
            .unwrap();
        orb.shutdown(true).await.unwrap();
        assert_eq!(seen.take(), ["pre"]);
    }
}

#[tokio::test]
async fn a_codec_encodes_values_with_and_without_their_types() {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .build()
        .await
        .unwrap();
    let factory = orb.codec_factory();
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let codec = factory.create_codec(Encoding::cdr(version)).unwrap();
        let number = Any::new(&0x0102_0304_i32).unwrap();
        assert_eq!(
            codec.decode(&codec.encode(&number).unwrap()).unwrap(),
            number
        );
        // Big-endian, from elsewhere: the octet of the order, padding, and the number.
        let decoded = codec.decode_value(b"\0\0\0\0\x01\x02\x03\x04", &TypeCode::of::<i32>());
        assert_eq!(decoded.unwrap(), number);
        let octets = codec.encode_value(&number).unwrap();
        assert_eq!(octets.len(), 8);
        // References in values belong to the ORB.
        let poa = orb.root_poa();
        let till: TillRef = poa.create_reference().unwrap();
        let any = Any::new(&Some(till.clone())).unwrap();
        let decoded = codec.decode(&codec.encode(&any).unwrap()).unwrap();
        assert_eq!(decoded.extract::<Option<TillRef>>().unwrap(), Some(till));
        for malformed in [&b""[..], b"\x01", b"\0\0\0\0", b"\x07\0\0\0\0\0\0\x03"] {
            assert!(matches!(
                codec.decode(malformed),
                Err(CodecError::FormatMismatch(_))
            ));
        }
        assert!(codec.decode_value(b"\0\0", &TypeCode::of::<i32>()).is_err());
    }
    for encoding in [
        Encoding {
            format: 1,
            version: Version::V1_2,
        },
        Encoding::cdr(Version { major: 1, minor: 3 }),
    ] {
        assert_eq!(
            factory.create_codec(encoding).unwrap_err(),
            UnknownEncoding(encoding)
        );
    }
    let _ = Bytes::new();
    orb.shutdown(true).await.unwrap();
}
