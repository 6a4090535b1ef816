//! Keys with codes, over the wire.

use super::*;
use zorb::{KeyProtection, Lifespan};
use zorb_giop::ior::IiopProfile;

const SECRET: &[u8] = b"sixteen octets, at least";

async fn server(secret: Option<&[u8]>) -> Orb {
    let builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let builder = match secret {
        Some(secret) => builder.key_secret(secret),
        None => builder,
    };
    let orb = builder.build().await.unwrap();
    orb.root_poa().the_poa_manager().activate().unwrap();
    orb
}

fn authenticated() -> Policies {
    user()
        .with_lifespan(Lifespan::Persistent)
        .with_key_protection(KeyProtection::Authenticated)
}

fn rows(orb: &Orb, policies: Policies) -> Result<Poa, Error> {
    let root = orb.root_poa();
    root.create_poa_with("rows", policies, Some(root.the_poa_manager()))
}

/// A reference to what is behind another key at the same endpoint.
async fn at(client: &Orb, orb: &Orb, key: &[u8]) -> DrawerRef {
    let mut endpoint = orb.endpoints()[0].to_string();
    let address = endpoint.split_off("iiop://".len());
    let key: String = key.iter().map(|octet| format!("%{octet:02x}")).collect();
    let url = format!("corbaloc:iiop:1.2@{address}/{key}");
    let object = client.string_to_object(&url).await;
    object.unwrap().unchecked_narrow()
}

fn key_of(reference: &DrawerRef) -> Vec<u8> {
    let ior = reference.as_object().ior();
    let profile = IiopProfile::from_tagged(&ior.profiles[0]).unwrap();
    profile.object_key.to_vec()
}

#[tokio::test]
async fn a_key_with_a_code_leads_to_its_object_and_a_forged_one_is_object_not_exist() {
    let client = Orb::builder().build().await.unwrap();
    let orb = server(Some(SECRET)).await;
    let poa = rows(&orb, authenticated()).unwrap();
    let row = poa
        .activate_object_with_id("4711", drawer(&desk("mine")))
        .unwrap();
    let key = key_of(&row);
    let far = at(&client, &orb, &key).await;
    assert_eq!(in_time(far.label()).await.unwrap(), "mine");
    assert_eq!(poa.reference_to_id(&row).unwrap().as_ref(), b"4711");
    let mut other = key.clone();
    *other.last_mut().unwrap() ^= 1;
    let mut long = key.clone();
    long.resize(60_000, 0);
    for forged in [&key[20..], &key[..key.len() - 1], &other, &long] {
        let far = at(&client, &orb, forged).await;
        assert_eq!(raised(in_time(far.label()).await).0, Kind::ObjectNotExist);
        assert!(!in_time(far.as_object().locate()).await.unwrap());
    }
    // The next run of the server, with the same secret, and one with another.
    let again = server(Some(SECRET)).await;
    let poa = rows(&again, authenticated()).unwrap();
    poa.activate_object_with_id("4711", drawer(&desk("later")))
        .unwrap();
    let far = at(&client, &again, &key).await;
    assert_eq!(in_time(far.label()).await.unwrap(), "later");
    let stranger = server(Some(b"another secret of a server")).await;
    let poa = rows(&stranger, authenticated()).unwrap();
    poa.activate_object_with_id("4711", drawer(&desk("strange")))
        .unwrap();
    let far = at(&client, &stranger, &key).await;
    assert_eq!(raised(in_time(far.label()).await).0, Kind::ObjectNotExist);
    // Without a secret codes die with the server.
    let without = server(None).await;
    assert_eq!(
        adapter_error(rows(&without, authenticated())),
        AdapterError::NoKeySecret
    );
    let transient = authenticated().with_lifespan(Lifespan::Transient);
    let poa = rows(&without, transient).unwrap();
    let row = poa
        .activate_object_with_id("4711", drawer(&desk("short")))
        .unwrap();
    let far = at(&client, &without, &key_of(&row)).await;
    assert_eq!(in_time(far.label()).await.unwrap(), "short");
    for orb in [client, orb, again, stranger, without] {
        in_time(orb.shutdown(true)).await.unwrap();
    }
}
