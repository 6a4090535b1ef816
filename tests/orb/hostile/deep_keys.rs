//! Persistent keys that name many adapters.

use crate::hostile::honest_pair::{TargetRef, World, reach, within};
use crate::hostile::raw::{Call, Raw, decode, message};
use std::sync::{Arc, Mutex};
use zorb::{
    AdapterError, CompletionStatus, Error, Poa, Policies, SystemException,
    SystemExceptionKind as Kind, minor,
};
use zorb_giop::{MessageKind, ResponseFlags, Version};

/// Octets of a message that is almost all key, and a hang if the work for it is quadratic.
const MANY: usize = 1 << 20;

fn counted(part: &[u8]) -> Vec<u8> {
    let len = u32::try_from(part.len()).unwrap();
    [&len.to_be_bytes(), part].concat()
}

/// A key whose path has the server's id, which is empty, and so many names.
fn key_of(names: impl Iterator<Item = String>) -> Vec<u8> {
    let names: Vec<u8> = names.flat_map(|name| counted(name.as_bytes())).collect();
    let path = [counted(b""), names].concat();
    [&b"ZRB\x02"[..], &counted(&path), b"7"].concat()
}

/// Keys that name many adapters, with and without an adapter where they begin.
fn many_names() -> [Vec<u8>; 3] {
    let empty = core::iter::repeat_n(String::new(), MANY / 4);
    let below = ["bank".to_owned()].into_iter().chain(empty.clone());
    let short = (0..MANY / 8).map(|n| format!("{:x}", n % 16));
    [key_of(empty), key_of(below), key_of(short)]
}

fn no_adapter() -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
}

fn child(parent: &Poa, name: &str) -> Result<Poa, Error> {
    parent.create_poa_with(name, Policies::PERSISTENT, Some(parent.the_poa_manager()))
}

/// A LocateRequest of GIOP 1.0, whose target is a key.
fn locate_request(id: u32, key: &[u8]) -> Vec<u8> {
    let words = [id, u32::try_from(key.len()).unwrap()].map(u32::to_le_bytes);
    let body = [words.as_flattened(), key].concat();
    message(Version::V1_0, MessageKind::LocateRequest, &body)
}

#[tokio::test]
async fn a_key_that_names_a_quarter_of_a_million_adapters_is_as_unknown_as_any_other() {
    for activates in [false, true] {
        let world = World::start().await;
        let root = world.server.root_poa();
        child(&root, "bank").unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        if activates {
            let asked = Arc::clone(&asked);
            root.set_adapter_activator(move |root, name| {
                asked.lock().unwrap().push(name.clone());
                async move { child(&root, &name).map(|_| true).map_err(Into::into) }
            })
            .unwrap();
        }
        let mut peer = Raw::connect(&world).await;
        for key in many_names() {
            let call = Call::new(&key, "twice");
            peer.send(&call.with(|e| e.put(&4i32))).await;
            assert_eq!(peer.receive_reply::<i32>(1).await, Err(no_adapter()));
            peer.send(&locate_request(2, &key)).await;
            let answer = peer.receive().await.expect("an answer before the end");
            assert_eq!(answer.header.kind, MessageKind::LocateReply);
            let [id, status] = [12, 16].map(|at| decode::<u32>(&answer, at));
            assert_eq!((id, status), (2, 0), "UNKNOWN_OBJECT");
            for id in 3..11 {
                let call = Call {
                    response: ResponseFlags::None,
                    ..Call::new(&key, "forget").id(id)
                };
                peer.send(&call.with(|e| e.put(&4i32))).await;
            }
            world.serves().await;
        }
        // What is behind them on the connection is served, too.
        let key = world.key();
        peer.send(&Call::new(&key, "twice").id(99).with(|e| e.put(&4i32)))
            .await;
        assert_eq!(peer.receive_reply(99).await, Ok(8));
        assert_eq!(*asked.lock().unwrap(), <[String; 0]>::default());
        assert_eq!(root.the_children().len(), 2, "no other POA was made");
        drop(peer);
        world.end().await;
    }
}

/// Sets an activator that makes each POA that is asked for, and the same activator there.
fn activate_all(poa: &Poa, asked: Arc<Mutex<Vec<String>>>) -> Result<(), Error> {
    poa.set_adapter_activator(move |poa, name| {
        let asked = Arc::clone(&asked);
        async move {
            asked.lock().unwrap().push(name.clone());
            let made = child(&poa, &name)?;
            activate_all(&made, asked)?;
            Ok(true)
        }
    })
}

#[tokio::test]
async fn activators_make_a_path_level_by_level_each_once_down_to_the_limit() {
    const DEPTH: usize = 5;
    let world = World::start_with(|builder| builder.max_poa_depth(DEPTH)).await;
    let root = world.server.root_poa();
    let names: Vec<String> = (0..=DEPTH).map(|level| format!("level {level}")).collect();
    let (deepest, beyond) = (
        key_of(names[..DEPTH].iter().cloned()),
        key_of(names.iter().cloned()),
    );
    let asked = Arc::<Mutex<Vec<String>>>::default();
    activate_all(&root, Arc::clone(&asked)).unwrap();
    let mut peer = Raw::connect(&world).await;
    // Deeper than there may be adapters: no activator is asked, not even for the first.
    peer.send(&Call::new(&beyond, "twice").with(|e| e.put(&4i32)))
        .await;
    assert_eq!(peer.receive_reply::<i32>(1).await, Err(no_adapter()));
    assert_eq!(*asked.lock().unwrap(), <[String; 0]>::default());
    peer.send(&Call::new(&deepest, "twice").id(2).with(|e| e.put(&4i32)))
        .await;
    let no_object = SystemException::new(Kind::ObjectNotExist, 0, CompletionStatus::No);
    assert_eq!(peer.receive_reply::<i32>(2).await, Err(no_object));
    assert_eq!(*asked.lock().unwrap(), names[..DEPTH]);
    let poa = names[..DEPTH]
        .iter()
        .try_fold(root, |poa, name| poa.find_poa(name))
        .expect("each level was made");
    let reference = poa.activate_object_with_id("7", world.servant()).unwrap();
    let text = world.server.object_to_string(&reference);
    let object: TargetRef = reach(world.bystander(), &text).await;
    assert_eq!(within(object.twice(4)).await, Ok(8));
    let too_deep = child(&poa, "one more").unwrap_err();
    assert!(matches!(
        too_deep,
        Error::Adapter(AdapterError::TooDeep(DEPTH))
    ));
    let said = "an adapter may be 5 levels below the root at most (Builder::max_poa_depth)";
    assert!(too_deep.to_string().contains(said), "{too_deep}");
    drop(peer);
    world.end().await;
}

/// As after a restart: the servant is there again when its POA is, and each level makes the one below it.
#[tokio::test]
async fn a_path_whose_upper_levels_exist_is_made_from_where_it_ends() {
    let world = World::start().await;
    let root = world.server.root_poa();
    let a = child(&root, "A").unwrap();
    let b = child(&a, "B").unwrap();
    let asked = Arc::<Mutex<Vec<String>>>::default();
    for poa in [&root, &a, &b] {
        activate_all(poa, Arc::clone(&asked)).unwrap();
    }
    let key = key_of(["A", "B", "C", "D"].into_iter().map(str::to_owned));
    let mut peer = Raw::connect(&world).await;
    peer.send(&Call::new(&key, "twice").with(|e| e.put(&4i32)))
        .await;
    assert!(peer.receive_reply::<i32>(1).await.is_err());
    assert_eq!(*asked.lock().unwrap(), ["C", "D"]);
    drop(peer);
    world.end().await;
}
