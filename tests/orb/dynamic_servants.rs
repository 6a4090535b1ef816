//! Servants that get the operations of their requests by name, and gateways made of them.

use crate::dynamic::dynamic::thing::TurnError;
use crate::dynamic::dynamic::{Point, Refused, Thing, ThingRef};
use crate::dynamic::{Servant, points, things};
use crate::savings::in_time;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zorb::{
    Any, Char, CompletionStatus, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton,
    Error, IdUniqueness, Interface, ObjectId, ObjectRef, Orb, ParameterMode, ParameterType, Poa,
    PoaCurrent, Policies, RequestError, RequestProcessing, ServantActivator, ServantLocator,
    ServantManagerError, ServantRetention, ServiceContext, ServiceContextId, Signature, SyncScope,
    SystemException, SystemExceptionKind as Kind, TypeCode, minor,
};
use zorb_cdr::{BigEndian, ByteOrder, Encoder, LittleEndian, WireFormat};
use zorb_giop::{
    HEADER_LEN, Message, MessageHeader, ReplyHeader, RequestBuilder, ResponseFlags, Version,
};

const THING: &str = ThingRef::REPOSITORY_ID;

/// Serves `Dynamic::Thing` without its skeleton, by the servant of that.
struct ByName(Servant);

fn value<T: zorb::cdr::IdlValue>(any: &Any) -> T {
    any.extract().expect("the types have been checked")
}

fn any<T: zorb::IdlType + ?Sized>(value: &T) -> Any {
    Any::new(value).expect("it has a form on the wire")
}

fn turn() -> Signature {
    let parameter = |name: &str, mode, ty| ParameterType {
        name: name.to_owned(),
        mode,
        ty,
    };
    let mut turn = Signature::new("turn");
    turn.result = Some(TypeCode::of::<Vec<Point>>());
    turn.parameters = vec![
        parameter("a", ParameterMode::In, TypeCode::of::<Vec<Point>>()),
        parameter("b", ParameterMode::InOut, TypeCode::string(0)),
        parameter("c", ParameterMode::Out, TypeCode::of::<Point>()),
        parameter("d", ParameterMode::In, TypeCode::of::<ObjectRef>()),
        parameter("e", ParameterMode::In, TypeCode::of::<Any>()),
    ];
    turn.raises = vec![TypeCode::of::<Refused>()];
    turn
}

impl DynamicServant for ByName {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let one = |ty: TypeCode| Ok::<_, RequestError>(request.arguments(&[ty])?.remove(0));
        let long = || TypeCode::of::<i32>();
        match &*request.operation() {
            "_get_level" => {
                // A servant may await.
                tokio::task::yield_now().await;
                Ok(DynamicReply::new(Some(any(&self.0.level().await?)), vec![]))
            }
            "_set_level" => {
                self.0.set_level(value(&one(long())?)).await?;
                Ok(DynamicReply::new(None, vec![]))
            }
            "poke" => {
                self.0.poke(value(&one(long())?)).await?;
                Ok(DynamicReply::new(None, vec![]))
            }
            "letter" => Ok(DynamicReply::new(
                Some(one(TypeCode::of::<Char>())?),
                vec![],
            )),
            "turn" => {
                let (arguments, _) = request.arguments_of(&turn())?;
                let [a, b, d, e] = &arguments[..] else {
                    panic!("four arguments");
                };
                let (a, b): (Vec<Point>, String) = (value(a), value(b));
                let turned = self.0.turn(&a, &b, value(d), &value(e)).await;
                match turned {
                    Ok((turned, b, c)) => turn().reply(Some(any(&turned)), vec![any(&b), any(&c)]),
                    Err(TurnError::Refused(refused)) => Err(RequestError::User(any(&refused))),
                    Err(TurnError::System(exception)) => Err(exception.into()),
                }
            }
            "panic" => panic!("as it was asked to"),
            "no_exception" => Err(RequestError::User(any(&7))),
            "wrong" => turn().reply(Some(any(&7)), vec![]),
            other => Err(Kind::BadOperation.with(other).into()),
        }
    }
}

trait With {
    fn with(self, detail: &str) -> SystemException;
}

impl With for Kind {
    fn with(self, detail: &str) -> SystemException {
        let exception = SystemException::new(self, minor::NO_SUCH_OPERATION, CompletionStatus::No);
        exception.with_detail(detail)
    }
}

async fn server() -> Orb {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.build().await.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb
}

/// The object as its own ORB sees it, and as a client does.
async fn both(server: &Orb, object: &ObjectRef) -> (Orb, [ThingRef; 2]) {
    let client = Orb::builder().build().await.unwrap();
    let reference = server.object_to_string(object);
    let remote = client.string_to_object(&reference).await.unwrap();
    let both = [object.unchecked_narrow(), remote.unchecked_narrow()];
    (client, both)
}

/// Everything that the interface has, called by generated stubs.
async fn works(thing: &ThingRef) {
    let before = in_time(thing.level()).await.unwrap();
    in_time(thing.set_level(41)).await.unwrap();
    assert_eq!(in_time(thing.level()).await.unwrap(), 41, "it was {before}");
    let poked = thing.with_sync_scope(SyncScope::WithTarget);
    in_time(poked.poke(1)).await.unwrap();
    while in_time(thing.level()).await.unwrap() != 42 {}
    assert_eq!(in_time(thing.letter(Char(b'x'))).await.unwrap(), Char(b'x'));
    let points = points();
    let five = any(&5);
    let turn = |b: &'static str| thing.turn(&points, b, thing, &five);
    let (turned, b, c) = in_time(turn("loud")).await.unwrap();
    assert_eq!(turned, [points[1].clone(), points[0].clone()]);
    assert_eq!((&*b, &c), ("LOUD", &points[0]));
    let TurnError::Refused(refused) = in_time(turn("refuse")).await.unwrap_err() else {
        panic!("a user exception");
    };
    assert_eq!((&*refused.why, refused.code), ("true 5", 7));
    let object = thing.as_object();
    assert!(!in_time(object.non_existent()).await.unwrap());
    // The reference of a gateway may state another interface.
    let is_a = |id: &str| {
        object
            .request("_is_a")
            .argument(any(id))
            .returns(TypeCode::of::<bool>())
    };
    for (id, expected) in [(THING, true), ("IDL:Other:1.0", false)] {
        let found = in_time(is_a(id).invoke()).await.unwrap().result.unwrap();
        assert_eq!(found.extract::<bool>().unwrap(), expected, "{id}");
    }
    let id = object
        .request("_repository_id")
        .returns(TypeCode::string(0));
    let id = in_time(id.invoke()).await.unwrap().result.unwrap();
    assert_eq!(id.extract::<String>().unwrap(), THING);
}

#[tokio::test]
async fn a_dynamic_servant_serves_what_a_static_one_does() {
    let server = server().await;
    let skeleton = DynamicSkeleton::new(THING, ByName(Servant::default()));
    let object = server.root_poa().activate(skeleton).unwrap();
    assert_eq!(object.type_id(), THING);
    let (_client, things) = both(&server, &object).await;
    for thing in &things {
        works(thing).await;
    }
    let found = server.root_poa().reference_to_servant::<ByName>(&object);
    assert!(found.is_ok(), "it can be found as its own type");
}

#[tokio::test]
async fn mistakes_of_dynamic_servants_are_exceptions_of_the_specification() {
    let server = server().await;
    let skeleton = DynamicSkeleton::new(THING, ByName(Servant::default()));
    let object = server.root_poa().activate(skeleton).unwrap();
    let (_client, things) = both(&server, &object).await;
    for thing in &things {
        let thing = thing.as_object();
        let fails = async |request: zorb::Request| match in_time(request.invoke()).await {
            Err(RequestError::System(exception)) => (exception.kind, exception.completed),
            other => panic!("{other:?}"),
        };
        let (no, yes) = (CompletionStatus::No, CompletionStatus::Yes);
        assert_eq!(
            fails(thing.request("unknown")).await,
            (Kind::BadOperation, no)
        );
        // No arguments where it reads one.
        assert_eq!(
            fails(thing.request("_set_level")).await,
            (Kind::Marshal, no)
        );
        let panicked = fails(thing.request("panic")).await;
        assert_eq!(panicked, (Kind::Unknown, CompletionStatus::Maybe));
        assert_eq!(
            fails(thing.request("no_exception")).await,
            (Kind::BadParam, yes)
        );
        assert_eq!(fails(thing.request("wrong")).await, (Kind::Internal, yes));
    }
}

/// Serves objects of interfaces that their ids name, and says which object it was.
struct ByDefault;

impl DynamicServant for ByDefault {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let id = PoaCurrent::get_object_id().expect("in an upcall");
        let text = String::from_utf8_lossy(id.as_ref()).into_owned();
        let text = format!("{} of {text}", request.operation());
        Ok(DynamicReply::new(Some(any(&text)), vec![]))
    }

    fn primary_interface(&self, id: &ObjectId) -> Option<String> {
        Some(format!("IDL:{}:1.0", String::from_utf8_lossy(id.as_ref())))
    }

    fn is_a(&self, _: &ObjectId, repository_id: &str) -> bool {
        repository_id == "IDL:Base:1.0"
    }
}

impl ServantActivator for ByDefault {
    async fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<zorb::Servant, ServantManagerError> {
        Ok(DynamicSkeleton::new("", Self).into())
    }
}

impl ServantLocator for ByDefault {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(zorb::Servant, ()), ServantManagerError> {
        Ok((DynamicSkeleton::new("", Self).into(), ()))
    }
}

#[tokio::test]
async fn a_dynamic_servant_may_be_the_default_one_or_come_from_a_servant_manager() {
    let server = server().await;
    let root = server.root_poa();
    let manager = root.the_poa_manager();
    let policies = Policies::PERSISTENT.with_id_uniqueness(IdUniqueness::Multiple);
    let managed = policies.with_request_processing(RequestProcessing::ServantManager);
    let poa = |name: &str, policies| -> Result<Poa, Error> {
        root.create_poa_with(name, policies, Some(manager))
    };
    let default = policies.with_request_processing(RequestProcessing::DefaultServant);
    let default = poa("default", default).unwrap();
    default
        .set_servant(DynamicSkeleton::new("", ByDefault))
        .unwrap();
    let activated = poa("activated", managed).unwrap();
    activated.set_servant_manager(ByDefault).unwrap();
    let located = poa(
        "located",
        managed.with_servant_retention(ServantRetention::NonRetain),
    );
    let located = located.unwrap();
    located.set_servant_locator(ByDefault).unwrap();
    for poa in [default, activated, located] {
        for name in ["Account", "Branch"] {
            let interface = format!("IDL:{name}:1.0");
            let object = poa.create_reference_of_interface(name, &interface).unwrap();
            assert_eq!(object.type_id(), interface);
            let (_client, both) = both(&server, &object).await;
            for object in both.map(|it| it.as_object().clone()) {
                let called = object.request("call").returns(TypeCode::string(0));
                let called = in_time(called.invoke()).await.unwrap().result.unwrap();
                assert_eq!(
                    called.extract::<String>().unwrap(),
                    format!("call of {name}")
                );
                let found = object
                    .request("_repository_id")
                    .returns(TypeCode::string(0));
                let found = in_time(found.invoke()).await.unwrap().result.unwrap();
                assert_eq!(found.extract::<String>().unwrap(), interface);
                for (id, expected) in [("IDL:Base:1.0", true), ("IDL:Third:1.0", false)] {
                    assert_eq!(in_time(object.is_a(id)).await.unwrap(), expected, "{id}");
                }
            }
        }
    }
}

/// Passes every request on to an object, without looking at its arguments.
struct Gateway(ObjectRef);

impl DynamicServant for Gateway {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let (operation, arguments) = (request.operation(), request.raw_arguments()?);
        if request.response_expected() {
            Ok(self.0.invoke_raw(&operation, &arguments).await?.into())
        } else {
            self.0.send_raw(&operation, &arguments).await?;
            Ok(DynamicReply::new(None, vec![]))
        }
    }

    fn answers_every_operation(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_gateway_passes_everything_on() {
    // An object of the gateway's own ORB, and one that is elsewhere.
    let (_orbs, targets) = things().await;
    for target in [&targets[0], &targets[3]] {
        let server = server().await;
        let skeleton = DynamicSkeleton::new("", Gateway(target.clone()));
        let object = server.root_poa().activate(skeleton).unwrap();
        let (_client, things) = both(&server, &object).await;
        for thing in &things {
            works(thing).await;
            let unknown = in_time(thing.as_object().request("nothing").invoke()).await;
            let Err(RequestError::System(unknown)) = unknown else {
                panic!("{unknown:?}");
            };
            assert_eq!(unknown.kind, Kind::BadOperation);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrapper_leaves_a_dynamic_servant_what_it_answers() {
    let (_orbs, targets) = things().await;
    let server = server().await;
    let gateway = DynamicSkeleton::new("IDL:Nothing:1.0", Gateway(targets[0].clone()));
    let object = server.root_poa().activate(zorb::Blocking(gateway)).unwrap();
    let (_client, things) = both(&server, &object).await;
    works(&things[1]).await;
}

/// Keeps the arguments that came, and returns them as they are.
#[derive(Default)]
struct Mirror(Arc<Mutex<Vec<Vec<u8>>>>);

impl DynamicServant for Mirror {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let arguments = request.raw_arguments()?;
        self.0.lock().unwrap().push(arguments.octets().to_vec());
        Ok(match &*request.operation() {
            "raise" => DynamicReply::raw(zorb::RawReply::Exception(arguments)),
            _ => DynamicReply::raw(zorb::RawReply::Results(arguments)),
        })
    }
}

/// Sends a request as it is, and returns the reply.
async fn exchange(port: &str, request: Vec<u8>) -> Message {
    let mut stream = tokio::net::TcpStream::connect(port).await.unwrap();
    stream.write_all(&request).await.unwrap();
    let mut octets = vec![0; HEADER_LEN];
    stream.read_exact(&mut octets).await.unwrap();
    let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
    octets.resize(HEADER_LEN + header.size as usize, 0);
    stream.read_exact(&mut octets[HEADER_LEN..]).await.unwrap();
    let frame = zorb_cdr::Frame::new(octets.into());
    Message { header, frame }
}

/// The service context by which TAO's gateways align the bodies that they pass on.
const FILLER_OF_TAO: ServiceContextId = ServiceContextId(0x5441_4f00);

fn request<O: ByteOrder>(version: Version, operation: &str, octets: usize) -> Vec<u8> {
    let filler = ServiceContext {
        id: FILLER_OF_TAO,
        data: zorb::Bytes::from_static(&[0; 4]),
    };
    // One in two has it.
    let contexts = [filler];
    let contexts = if octets == 0 { &contexts[..] } else { &[] };
    let builder = RequestBuilder {
        version,
        request_id: 7,
        response: ResponseFlags::WithTarget,
        key: b"Gate",
        operation,
        contexts,
    };
    let format = WireFormat {
        minor: version.minor,
        ..WireFormat::default()
    };
    let request = builder.encode(Encoder::<O>::new(format), |e| {
        e.write_u8(1);
        e.write_f64(1.5);
        e.write_octets(&vec![7; octets])
    });
    request.unwrap().to_vec()
}

async fn passes<O: ByteOrder>(collocated: bool) {
    let gate = server().await;
    let elsewhere = server().await;
    let seen = Arc::default();
    let mirror = DynamicSkeleton::new("IDL:Mirror:1.0", Mirror(Arc::clone(&seen)));
    let there = if collocated { &gate } else { &elsewhere };
    let mirror = there.root_poa().activate(mirror).unwrap();
    let mirror = there.object_to_string(&mirror);
    // What a client without code sets sends is text in ISO 8859-1.
    let target = gate.string_to_object(&mirror).await.unwrap();
    let target = target.with_char_code_set(zorb::CharSet::Latin1);
    let gateway = DynamicSkeleton::new("", Gateway(target));
    gate.ins_poa()
        .activate_object_with_id("Gate", gateway)
        .unwrap();
    let endpoint = &gate.endpoints()[0];
    let port = format!("127.0.0.1:{}", endpoint.port().unwrap());
    for octets in [0, 100_000] {
        for operation in ["mirror", "raise"] {
            let sent = request::<O>(Version::V1_2, operation, octets);
            let body = sent[sent.len() - 20 - octets..].to_vec();
            let reply = in_time(exchange(&port, sent)).await;
            assert_eq!(reply.header.endian, O::ENDIAN);
            let header = ReplyHeader::read(&reply).unwrap();
            let expected = match operation {
                "raise" => zorb_giop::ReplyStatus::UserException,
                _ => zorb_giop::ReplyStatus::NoException,
            };
            assert_eq!((header.status, header.body % 8), (expected, 0));
            assert!(
                reply.frame.octets()[header.body..] == body,
                "the same octets came back"
            );
            assert_eq!(seen.lock().unwrap().pop().unwrap(), body);
        }
    }
}

#[tokio::test]
async fn a_gateway_passes_bodies_of_either_byte_order_on_unchanged() {
    for collocated in [false, true] {
        passes::<BigEndian>(collocated).await;
        passes::<LittleEndian>(collocated).await;
    }
}
