//! Values within values: the stack, the tables and the time that they take, of a message and of all messages.

use crate::counting::{Memory, held_since, hold_from_here};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use zorb::{
    CompletionStatus, CustomMarshal, DataInput, DataOutput, Interface, MarshalError, Orb,
    SystemException, SystemExceptionKind as Kind, Value,
};
use zorb_cdr::{EncodeError, Encoder, Limits, LittleEndian, WireFormat};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{RequestBuilder, ResponseFlags, Version};

zorb::idl! {
    module Nested {
        valuetype Link { public long number; public Link next; };
        valuetype Count { public long number; };
        typedef sequence<Count> Counts;
        custom valuetype Slow {};
        interface Target {
            void take(in Link first);
            void hold(in Counts them);
            Link give(in long length);
            Slow late(out Counts them);
        };
    };
}

use nested::{Count, Link, Slow, Target, TargetRef, TargetServant};

const MIB: usize = 1 << 20;
/// The tag of a value without type information.
const TAG: u32 = 0x7fff_ff00;
/// A guard against a hang, and nothing else.
const GUARD: Duration = Duration::from_secs(60);

/// The end of the call whose reply is decoded too slowly.
static END: Mutex<Option<Instant>> = Mutex::new(None);

impl CustomMarshal for Slow {
    fn marshal(&self, _: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        Ok(())
    }

    /// Takes until the end of the call.
    fn unmarshal(_: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let end = *END.lock().unwrap();
        while end.is_some_and(|end| Instant::now() < end) {
            std::hint::spin_loop();
        }
        Ok(Self {})
    }
}

type Chain = Option<Value<Link>>;

fn chain(length: i32) -> Chain {
    (0..length).fold(None, |next, number| Some(Value::new(Link { number, next })))
}

fn counts(count: i32) -> Vec<Option<Value<Count>>> {
    (0..count)
        .map(|number| Some(Value::new(Count { number })))
        .collect()
}

/// Requests that are held until they get a permit.
struct Held {
    started: Semaphore,
    permits: Semaphore,
}

struct Servant(Arc<Held>);

impl Target for Servant {
    async fn take(&self, _: Chain) -> Result<(), SystemException> {
        Ok(())
    }

    async fn hold(&self, _: &[Option<Value<Count>>]) -> Result<(), SystemException> {
        self.0.started.add_permits(1);
        self.0.permits.acquire().await.unwrap().forget();
        Ok(())
    }

    async fn give(&self, length: i32) -> Result<Chain, SystemException> {
        Ok(chain(length))
    }

    async fn late(
        &self,
    ) -> Result<(Option<Value<Slow>>, Vec<Option<Value<Count>>>), SystemException> {
        Ok((Some(Value::new(Slow {})), counts(10_000)))
    }
}

/// A server, the profile of its object, and its held requests.
async fn server(memory: usize) -> (Orb, IiopProfile, Arc<Held>) {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .max_memory_octets(memory)
        .build()
        .await
        .unwrap();
    let held = Arc::new(Held {
        started: Semaphore::new(0),
        permits: Semaphore::new(0),
    });
    let servant = TargetServant::new(Servant(Arc::clone(&held)));
    let target = server.root_poa().activate(servant).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let profile = IiopProfile::from_tagged(&target.as_object().ior().profiles[0]).unwrap();
    (server, profile, held)
}

fn request(
    profile: &IiopProfile,
    operation: &str,
    write: impl FnOnce(&mut Encoder<LittleEndian>) -> Result<(), EncodeError>,
) -> Vec<u8> {
    let request = RequestBuilder {
        version: Version::V1_2,
        request_id: 1,
        response: ResponseFlags::WithTarget,
        key: &profile.object_key,
        operation,
        contexts: &[],
    };
    let e = Encoder::<LittleEndian>::new(WireFormat::default());
    request.encode(e, write).unwrap().to_vec()
}

/// A list whose links take 8 octets each.
fn list(profile: &IiopProfile, length: u32) -> Vec<u8> {
    request(profile, "take", |e| {
        for number in 0..length {
            e.write_u32(TAG);
            e.write_u32(number);
        }
        e.write_null_value();
        Ok(())
    })
}

/// Many values beside each other.
fn many(profile: &IiopProfile, count: u32) -> Vec<u8> {
    request(profile, "hold", |e| {
        e.write_u32(count);
        for number in 0..count {
            e.write_u32(TAG);
            e.write_u32(number);
        }
        Ok(())
    })
}

async fn connect(profile: &IiopProfile) -> TcpStream {
    TcpStream::connect(("127.0.0.1", profile.address.port))
        .await
        .unwrap()
}

/// The exception in the next reply; none if it has a result.
async fn answer(stream: &mut TcpStream) -> Option<&'static str> {
    let mut answer = vec![0; 4096];
    let reading = tokio::time::timeout(GUARD, stream.read(&mut answer));
    let len = reading.await.expect("an answer").unwrap();
    assert!(len > 0, "the connection is open");
    ["MARSHAL", "NO_RESOURCES", "TRANSIENT"]
        .into_iter()
        .find(|name| {
            let mut windows = answer[..len].windows(name.len());
            windows.any(|window| window == name.as_bytes())
        })
}

async fn answer_to(profile: &IiopProfile, request: &[u8]) -> Option<&'static str> {
    let mut stream = connect(profile).await;
    stream.write_all(request).await.unwrap();
    answer(&mut stream).await
}

#[tokio::test]
async fn a_long_list_of_the_smallest_values_is_served() {
    let (server, profile, _) = server(512 * MIB).await;
    for length in [1, 1_000, 20_000, 100_000] {
        let request = list(&profile, length);
        assert_eq!(answer_to(&profile, &request).await, None, "{length}");
    }
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn the_tables_of_values_count_as_memory_of_their_message() {
    // Its own limit is the one that is reached: it takes stack before that.
    let (server, profile, _) = server(1024 * MIB).await;
    let request = list(&profile, 1_000_000);
    let before = hold_from_here();
    assert_eq!(answer_to(&profile, &request).await, Some("MARSHAL"));
    let Memory { peak, .. } = held_since(before);
    // The message itself is held in a buffer that has grown to twice its size.
    let most = (Limits::MEMORY + 3) * request.len() + Limits::LEAST_MEMORY;
    assert!(peak <= most, "{peak} octets for {}", request.len());
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn the_stack_of_values_within_values_counts_as_memory_of_all_connections() {
    let (server, profile, _) = server(8 * MIB).await;
    // It would be served if there were more memory.
    let request = list(&profile, 100_000);
    for _ in 0..3 {
        assert_eq!(answer_to(&profile, &request).await, Some("NO_RESOURCES"));
    }
    // What was taken is given back.
    assert_eq!(answer_to(&profile, &list(&profile, 100)).await, None);
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn messages_that_are_decoded_at_the_same_time_stay_within_the_memory_of_all_connections() {
    let (server, profile, servant) = server(24 * MIB).await;
    // Some 10 MiB when it is decoded.
    let request = many(&profile, 100_000);
    for _ in 0..3 {
        let mut first = connect(&profile).await;
        first.write_all(&request).await.unwrap();
        // Its arguments are held while its servant runs.
        let started = tokio::time::timeout(GUARD, servant.started.acquire());
        started.await.unwrap().unwrap().forget();
        for _ in 0..3 {
            assert_eq!(answer_to(&profile, &request).await, Some("NO_RESOURCES"));
        }
        servant.permits.add_permits(1);
        assert_eq!(answer(&mut first).await, None);
    }
    server.shutdown(true).await.unwrap();
}

async fn client(memory: usize, profile_of: &IiopProfile) -> (Orb, TargetRef) {
    let client = Orb::builder()
        .max_memory_octets(memory)
        .build()
        .await
        .unwrap();
    client.register_value::<Slow>();
    let key = zorb_giop::url::escape(&profile_of.object_key);
    let url = format!("corbaloc::127.0.0.1:{}/{key}", profile_of.address.port);
    let target = client.string_to_object(&url).await.unwrap();
    let target = target.unchecked_narrow();
    (client, target)
}

#[tokio::test]
async fn a_client_has_no_more_memory_for_values_within_values_than_its_limit() {
    let (server, profile, _) = server(512 * MIB).await;
    let (client, target) = client(8 * MIB, &profile).await;
    let error = target.give(50_000).await.unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::NoResources, CompletionStatus::Yes)
    );
    assert!(target.give(100).await.unwrap().is_some());
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn the_time_limit_of_a_call_ends_the_decoding_of_its_reply() {
    let (server, profile, _) = server(512 * MIB).await;
    let (client, target) = client(512 * MIB, &profile).await;
    target.late().await.unwrap();
    // The reply is here long before.
    let limit = Duration::from_secs(3);
    *END.lock().unwrap() = Instant::now().checked_add(limit + limit / 10);
    let error = target
        .with_round_trip_timeout(limit)
        .late()
        .await
        .unwrap_err();
    *END.lock().unwrap() = None;
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Timeout, CompletionStatus::Yes)
    );
    target.late().await.unwrap();
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}
