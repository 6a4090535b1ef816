//! Servants and their objects: the table of the activation and mapping operations.

use super::*;
use zorb::{ImplicitActivation, ObjectId, PoaPolicy, PoaPolicyType, minor};

#[tokio::test]
async fn policies_that_exclude_each_other_are_refused_by_their_index() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let list = [
        PoaPolicy::IdAssignment(IdAssignment::User),
        PoaPolicy::ImplicitActivation(ImplicitActivation::Implicit),
    ];
    let policies = Policies::default().with(list[0]).with(list[1]);
    let error = adapter_error(root.create_poa_with("none", policies, None).map(|_| ()));
    let AdapterError::InvalidPolicy(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.policy, PoaPolicyType::ImplicitActivation);
    assert_eq!(Policies::try_from(&list[..]).unwrap_err().index, 1);
    assert!(root.find_poa("none").is_none());
    assert_eq!(root.policies(), Policies::ROOT);
    world.end().await;
}

#[tokio::test]
async fn a_servant_of_unique_id_stands_for_one_object_at_a_time() {
    let world = World::new().await;
    let poa = world.poa("unique", user());
    let desk = desk("one");
    let first = poa.activate_object_with_id("a", drawer(&desk)).unwrap();
    let again = poa.activate_object_with_id("b", drawer(&desk));
    assert_eq!(adapter_error(again), AdapterError::ServantAlreadyActive);
    let other = poa.activate_object_with_id("a", drawer(&super::desk("other")));
    let taken = AdapterError::ObjectAlreadyActive(ObjectId::from("a"));
    assert_eq!(adapter_error(other), taken);
    assert_eq!(
        poa.servant_to_id(&drawer(&desk)).unwrap(),
        ObjectId::from("a")
    );
    assert_eq!(poa.servant_to_reference(&drawer(&desk)).unwrap(), first);
    assert!(Arc::ptr_eq(&poa.id_to_servant::<Desk>("a").unwrap(), &desk));
    assert!(Arc::ptr_eq(
        &poa.reference_to_servant::<Desk>(&first).unwrap(),
        &desk
    ));
    assert_eq!(
        adapter_error(poa.id_to_servant::<String>("a")),
        AdapterError::OtherServant
    );
    assert_eq!(
        poa.id_to_reference("a").unwrap().to_string(),
        first.to_string()
    );
    // In another adapter it may be active, too.
    let elsewhere = world.poa("elsewhere", user());
    elsewhere
        .activate_object_with_id("a", drawer(&desk))
        .unwrap();
    poa.deactivate_object(&first).unwrap();
    assert_eq!(
        adapter_error(poa.servant_to_id(&drawer(&desk))),
        AdapterError::ServantNotActive
    );
    assert_eq!(
        adapter_error(poa.id_to_servant::<Desk>("a")),
        AdapterError::ObjectNotActive
    );
    assert_eq!(
        adapter_error(poa.id_to_reference("a")),
        AdapterError::ObjectNotActive
    );
    assert_eq!(
        adapter_error(poa.deactivate_object_with_id("a")),
        AdapterError::ObjectNotActive
    );
    poa.activate_object_with_id("b", drawer(&desk)).unwrap();
    assert_eq!(
        adapter_error(poa.reference_to_servant::<Desk>(&elsewhere.id_to_reference("a").unwrap())),
        AdapterError::WrongAdapter
    );
    world.end().await;
}

#[tokio::test]
async fn a_servant_of_multiple_id_stands_for_many_objects() {
    let world = World::new().await;
    let policies = user().with_id_uniqueness(IdUniqueness::Multiple);
    let poa = world.poa("multiple", policies);
    let desk = desk("many");
    for id in ["a", "b", "c"] {
        let reference = poa.activate_object_with_id(id, drawer(&desk)).unwrap();
        for drawer in world.both(&reference).await {
            assert_eq!(in_time(drawer.id()).await.unwrap(), id);
        }
        assert!(Arc::ptr_eq(&poa.id_to_servant::<Desk>(id).unwrap(), &desk));
    }
    is_wrong_policy(poa.servant_to_id(&drawer(&desk)));
    is_wrong_policy(poa.servant_to_reference(&drawer(&desk)));
    world.end().await;
}

#[tokio::test]
async fn implicit_activation_activates_a_servant_whose_id_is_asked_for() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let desk = desk("implicit");
    let reference = root.servant_to_reference(&drawer(&desk)).unwrap();
    for drawer in world.both(&reference).await {
        assert_eq!(in_time(drawer.label()).await.unwrap(), "implicit");
    }
    // UNIQUE_ID: the same from then on.
    assert_eq!(
        root.servant_to_reference(&drawer(&desk)).unwrap(),
        reference
    );
    let id = root.servant_to_id(&drawer(&desk)).unwrap();
    assert_eq!(root.reference_to_id(&reference).unwrap(), id);
    assert_eq!(
        adapter_error(root.activate(drawer(&desk))),
        AdapterError::ServantAlreadyActive
    );
    // MULTIPLE_ID: another one each time.
    let policies = Policies::ROOT.with_id_uniqueness(IdUniqueness::Multiple);
    let many = world.poa("many", policies);
    let (first, second) = (
        many.servant_to_id(&drawer(&desk)).unwrap(),
        many.servant_to_id(&drawer(&desk)).unwrap(),
    );
    assert_ne!(first, second);
    // Not without the policy.
    let explicit = world.poa("explicit", Policies::DEFAULT);
    assert_eq!(
        adapter_error(explicit.servant_to_reference(&drawer(&desk))),
        AdapterError::ServantNotActive
    );
    world.end().await;
}

#[tokio::test]
async fn operations_that_the_policies_do_not_have_are_wrong_policy() {
    let world = World::new().await;
    let desk = desk("wrong");
    let located = world.poa("located", managed(ServantRetention::NonRetain));
    is_wrong_policy(located.activate_object_with_id("a", drawer(&desk)));
    is_wrong_policy(located.deactivate_object_with_id("a"));
    is_wrong_policy(located.id_to_servant::<Desk>("a"));
    is_wrong_policy(located.id_to_reference("a"));
    is_wrong_policy(located.servant_to_id(&drawer(&desk)));
    is_wrong_policy(located.set_servant(drawer(&desk)));
    is_wrong_policy(located.get_servant());
    is_wrong_policy(located.activate(drawer(&desk)));
    assert!(!located.has_servant_manager().unwrap());
    let root = world.orb.root_poa();
    is_wrong_policy(root.set_servant(drawer(&desk)));
    is_wrong_policy(root.get_servant());
    is_wrong_policy(root.has_servant_manager());
    let user = world.poa("user", user());
    is_wrong_policy(user.activate(drawer(&desk)));
    is_wrong_policy(user.create_reference::<DrawerRef>());
    let unknown = adapter_error(root.activate_object_with_id("mine", drawer(&desk)));
    assert!(matches!(unknown, AdapterError::UnknownId(_)));
    let default = world.poa("default", default_servant(ServantRetention::Retain));
    assert!(matches!(
        adapter_error(default.get_servant()),
        AdapterError::NoServant
    ));
    world.end().await;
}

#[tokio::test]
async fn a_poa_of_fixed_ids_serves_them_and_no_others() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let manager = root.the_poa_manager();
    let ids = zorb::object_ids!["main", b"\x00\xff"];
    for policies in [user(), Policies::PERSISTENT] {
        let poa = root.create_poa_of_ids("branches", policies, Some(manager), ids);
        let poa = poa.unwrap();
        for (number, id) in [&b"main"[..], b"\x00\xff"].into_iter().enumerate() {
            let early: DrawerRef = poa.create_reference_with_id(id).unwrap();
            for drawer in world.both(&early).await {
                let missing = raised(in_time(drawer.label()).await);
                assert_eq!(missing.0, Kind::ObjectNotExist);
            }
            let label = number.to_string();
            let reference = poa.activate_object_with_id(id, drawer(&desk(&label)));
            assert_eq!(reference.unwrap(), early);
            for drawer in world.both(&early).await {
                assert_eq!(in_time(drawer.label()).await.unwrap(), label);
            }
        }
        let unknown = poa.activate_object_with_id("harbour", drawer(&desk("none")));
        let exception = SystemException::from(unknown.unwrap_err());
        assert_eq!(
            (exception.kind, exception.minor),
            (Kind::BadParam, minor::UNKNOWN_OBJECT_ID)
        );
        // A reference to another id, which a POA of that name has made before or after.
        poa.destroy();
        let other = world.poa("branches", policies);
        let harbour: DrawerRef = other.create_reference_with_id("harbour").unwrap();
        other.destroy();
        let poa = root.create_poa_of_ids("branches", policies, Some(manager), ids);
        for drawer in world.both(&harbour).await {
            let missing = raised(in_time(drawer.label()).await);
            assert_eq!(missing.0, Kind::ObjectNotExist);
        }
        poa.unwrap().destroy();
    }
    is_wrong_policy(root.create_poa_of_ids("system", Policies::DEFAULT, None, ids));
    world.end().await;
}
