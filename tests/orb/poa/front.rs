//! Servers that move, behind one endpoint: references name what stands in front, which forwards each client to where
//! the server is.

use super::*;
use std::sync::Mutex;
use zorb_giop::url::escape;

/// Where the server listens now.
type Place = Arc<Mutex<String>>;

/// The server in front: it has no objects, and knows where the other server is.
async fn front(place: &Place) -> Orb {
    let front = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let front = front.await.unwrap();
    front.root_poa().the_poa_manager().activate().unwrap();
    let (place, orb) = (Arc::clone(place), front.clone());
    front.key_table().set_key_resolver(move |key| {
        let (address, orb) = (place.lock().unwrap().clone(), orb.clone());
        async move {
            let url = format!("corbaloc:iiop:1.2@{address}/{}", escape(&key));
            let found = orb.string_to_object(&url).await;
            found.map(Some).map_err(SystemException::from)
        }
    });
    front
}

/// A server at a port of its own, whose references name `published`.
async fn server(published: &str, place: &Place, label: &str) -> (Orb, DrawerRef) {
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .publish(published)
        .server_id("bank")
        .build()
        .await
        .unwrap();
    let root = orb.root_poa();
    let manager = root.the_poa_manager();
    let poa = root.create_poa_with("rows", Policies::PERSISTENT, Some(manager));
    let reference = (poa.unwrap()).activate_object_with_id("7", drawer(&desk(label)));
    manager.activate().unwrap();
    let listening = orb.endpoints()[0].to_string();
    let address = listening.strip_prefix("iiop://").unwrap();
    address.clone_into(&mut place.lock().unwrap());
    (orb, reference.unwrap())
}

#[tokio::test]
async fn a_server_that_moves_is_found_through_what_its_references_name() {
    let place = Place::default();
    let front = front(&place).await;
    let published = front.endpoints()[0].to_string();
    let client = Orb::builder().build().await.unwrap();
    let (first, reference) = server(&published, &place, "first").await;
    let text = reference.to_string();
    let far = client.string_to_object(&text).await.unwrap();
    let far: DrawerRef = far.unchecked_narrow();
    for _ in 0..2 {
        assert_eq!(in_time(far.label()).await.unwrap(), "first");
    }
    let before = place.lock().unwrap().clone();
    in_time(first.shutdown(true)).await.unwrap();
    // Another process, another port, the same reference octet by octet.
    let (second, reference) = server(&published, &place, "second").await;
    assert_eq!(reference.to_string(), text);
    assert_ne!(*place.lock().unwrap(), before);
    // A client that was forwarded goes back to the front by itself.
    assert_eq!(in_time(far.label()).await.unwrap(), "second");
    assert!(in_time(far.as_object().locate()).await.unwrap());
    in_time(second.shutdown(true)).await.unwrap();
    in_time(client.shutdown(true)).await.unwrap();
    front.key_table().clear_key_resolver();
    in_time(front.shutdown(true)).await.unwrap();
}
