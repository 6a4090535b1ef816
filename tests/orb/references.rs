//! References that come back: other ORBs write them anew, in another byte order and another order of profiles.

use crate::savings::in_time;
use std::collections::HashMap;
use zorb::{Bytes, Interface, Ior, ObjectRef, Orb, SystemException, Version};
use zorb_giop::ior::{
    ComponentTag, IiopAddress, IiopProfile, ProfileBody, ProfileTag, TaggedComponent,
    TaggedProfile, UiopProfile,
};
use zorb_giop::platform::Platform;

zorb::idl! {
    module References {
        interface Node {
            /// The object itself.
            Node itself();
        };
    };
}

use references::{Node, NodeRef, NodeServant};

/// A servant that has its own reference.
struct Leaf(NodeRef);

impl Node for Leaf {
    async fn itself(&self) -> Result<Option<NodeRef>, SystemException> {
        Ok(Some(self.0.clone()))
    }
}

/// A server at this endpoint with one object.
async fn serve(endpoint: &str, only_reachable: bool) -> (Orb, NodeRef) {
    let builder = Orb::builder().listen(endpoint);
    let builder = builder.publish_only_reachable(only_reachable);
    let orb = builder.build().await.unwrap();
    let poa = orb.root_poa();
    let node = poa.activate_with(|node: &NodeRef| NodeServant::new(Leaf(node.clone())));
    poa.the_poa_manager().activate().unwrap();
    (orb, node.unwrap())
}

#[tokio::test]
async fn a_servant_gives_its_own_reference_to_a_client() {
    let (_server, node) = serve("iiop://127.0.0.1:0", false).await;
    let client = Orb::builder().build().await.unwrap();
    let remote: NodeRef = client
        .object(node.as_object().ior().clone())
        .unchecked_narrow();
    let itself = in_time(remote.itself()).await.unwrap().unwrap();
    assert_eq!(itself.as_object(), remote.as_object());
    let again = in_time(itself.itself()).await.unwrap().unwrap();
    assert_eq!(again.as_object(), remote.as_object());
}

#[tokio::test]
async fn a_server_of_unix_sockets_publishes_an_iiop_profile_unless_only_what_is_reachable() {
    let folder = tempfile::tempdir().unwrap();
    for only_reachable in [false, true] {
        let socket = folder.path().join(format!("{only_reachable}"));
        let endpoint = format!("uiop://{}", socket.display());
        let (_server, node) = serve(&endpoint, only_reachable).await;
        let profiles = &node.as_object().ior().profiles;
        let tags: Vec<_> = profiles.iter().map(|profile| profile.tag).collect();
        assert!(tags.contains(&ProfileTag::UIOP), "{tags:?}");
        let has_iiop = tags.contains(&ProfileTag::INTERNET_IOP);
        assert_eq!(has_iiop, !only_reachable, "{tags:?}");
    }
}

#[tokio::test]
async fn every_profile_states_the_platform_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let here = Platform::of_this_process(Bytes::new());
    for publish in [false, true] {
        let socket = folder.path().join(format!("{publish}"));
        let builder = Orb::builder().listen("iiop://127.0.0.1:0");
        let builder = builder.listen(format!("uiop://{}", socket.display()));
        let orb = builder.publish_platform(publish).build().await.unwrap();
        let node: NodeRef = orb.root_poa().create_reference().unwrap();
        let profiles = &node.as_object().ior().profiles;
        let stated = profiles.iter().map(|profile| match profile.tag {
            ProfileTag::UIOP => UiopProfile::from_tagged(profile).unwrap().components,
            _ => IiopProfile::from_tagged(profile).unwrap().components,
        });
        let stated: Vec<Vec<Platform>> = stated.map(platforms).collect();
        assert_eq!(stated.len(), 2);
        for platforms in &stated {
            assert_eq!(platforms.len(), usize::from(publish), "{platforms:?}");
            assert!(
                platforms
                    .iter()
                    .all(|there| there.is_compatible_with(&here))
            );
            assert_eq!(platforms, &stated[0]);
        }
    }
}

/// The platforms that components state.
fn platforms(components: Vec<TaggedComponent>) -> Vec<Platform> {
    let stated = components
        .iter()
        .filter(|it| it.tag == ComponentTag::ZORB_PLATFORM);
    let read = stated.map(|it| Platform::from_component(&it.data));
    read.map(Result::unwrap).collect()
}

/// One IIOP profile of GIOP 1.1 without components, in big-endian order.
fn big_endian(host: &str, port: u16, key: &[u8]) -> TaggedProfile {
    let mut data = vec![0, 1, 1, 0];
    let text = [host.as_bytes(), b"\0"].concat();
    data.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
    data.extend(text);
    data.resize(data.len().next_multiple_of(2), 0xaa);
    data.extend(port.to_be_bytes());
    data.resize(data.len().next_multiple_of(4), 0xaa);
    data.extend(u32::try_from(key.len()).unwrap().to_be_bytes());
    data.extend(key);
    data.resize(data.len().next_multiple_of(4), 0xaa);
    data.extend([0; 4]);
    TaggedProfile {
        tag: ProfileTag::INTERNET_IOP,
        data: Bytes::from(data),
    }
}

/// The same profile as zorb writes it.
fn ours(host: &str, port: u16, key: &[u8]) -> TaggedProfile {
    let body = ProfileBody {
        version: Version::V1_1,
        address: IiopAddress {
            host: host.to_owned(),
            port,
        },
        object_key: Bytes::copy_from_slice(key),
        components: Vec::new(),
    };
    body.to_tagged().unwrap()
}

#[expect(
    clippy::mutable_key_type,
    reason = "nothing that changes in a reference is in its hash"
)]
#[tokio::test]
async fn a_reference_that_another_orb_wrote_anew_is_found_again() {
    let orb = Orb::builder().build().await.unwrap();
    let object = |type_id: &str, profiles: Vec<TaggedProfile>| {
        orb.object(Ior {
            type_id: type_id.to_owned(),
            profiles,
        })
    };
    let kept = object(
        "IDL:X:1.0",
        vec![ours("one", 1, b"key"), ours("two", 2, b"key")],
    );
    let back = object(
        "",
        vec![big_endian("Two", 2, b"key"), big_endian("one", 1, b"key")],
    );
    let other = object(
        "",
        vec![big_endian("one", 1, b"kex"), big_endian("two", 2, b"kex")],
    );
    assert!(kept.is_equivalent(&back) && back.is_equivalent(&kept));
    assert!(kept == back && kept != other);
    for maximum in [0, 1, 1000, u32::MAX] {
        assert_eq!(kept.hash_value(maximum), back.hash_value(maximum));
        assert!(kept.hash_value(maximum) <= maximum);
    }
    assert_ne!(kept.hash_value(u32::MAX), other.hash_value(u32::MAX));
    let mut found: HashMap<ObjectRef, &str> = HashMap::from([(kept.clone(), "kept")]);
    assert_eq!(found.get(&back), Some(&"kept"));
    assert_eq!(found.insert(other, "other"), None);
    // Typed references are keys as well.
    let typed = |object: &ObjectRef| object.unchecked_narrow::<crate::savings::AccountRef>();
    let accounts = HashMap::from([(typed(&kept), 1)]);
    assert_eq!(accounts.get(&typed(&back)), Some(&1));
    assert_eq!(typed(&back).as_object(), &kept);
}
