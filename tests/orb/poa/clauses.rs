//! The tables of the specification, row by row and for every combination of policies: which combinations there are,
//! which operations they have, what requests come to, and what each state of a manager makes of both.
//!
//! Source: CORBA 3.3 Part 1, The Portable Object Adapter. The rules are stated here once more, by the words of the
//! specification, and not by the code that follows them.

use super::*;
use crate::savings::spawn;
use std::fmt::Debug;
use zorb::{
    ImplicitActivation, Lifespan, ManagerError, ObjectId, PoaManagerState, Servant,
    ServantActivator, ServantLocator, ServantManagerError, ThreadModel, minor,
};

/// All values of all policies.
fn combinations() -> Vec<Policies> {
    let mut all = vec![Policies::DEFAULT];
    let mut with = |each: &[&dyn Fn(Policies) -> Policies]| {
        let more =
            |policies: &Policies| each.iter().map(|with| with(*policies)).collect::<Vec<_>>();
        all = all.iter().flat_map(more).collect();
    };
    with(&[
        &|p: Policies| p.with_thread(ThreadModel::OrbControlled),
        &|p: Policies| p.with_thread(ThreadModel::SingleThread),
        &|p: Policies| p.with_thread(ThreadModel::MainThread),
    ]);
    with(
        &[&|p: Policies| p.with_lifespan(Lifespan::Transient), &|p| {
            p.with_lifespan(Lifespan::Persistent)
        }],
    );
    with(&[
        &|p: Policies| p.with_id_uniqueness(IdUniqueness::Unique),
        &|p| p.with_id_uniqueness(IdUniqueness::Multiple),
    ]);
    with(&[
        &|p: Policies| p.with_id_assignment(IdAssignment::User),
        &|p| p.with_id_assignment(IdAssignment::System),
    ]);
    with(&[
        &|p: Policies| p.with_implicit_activation(ImplicitActivation::No),
        &|p: Policies| p.with_implicit_activation(ImplicitActivation::Implicit),
    ]);
    with(&[
        &|p: Policies| p.with_servant_retention(ServantRetention::Retain),
        &|p: Policies| p.with_servant_retention(ServantRetention::NonRetain),
    ]);
    with(&[
        &|p: Policies| p.with_request_processing(RequestProcessing::ActiveObjectMapOnly),
        &|p: Policies| p.with_request_processing(RequestProcessing::DefaultServant),
        &|p: Policies| p.with_request_processing(RequestProcessing::ServantManager),
    ]);
    all
}

/// The words that the rules are made of.
struct Has {
    retain: bool,
    unique: bool,
    system: bool,
    implicit: bool,
    map_only: bool,
    default_servant: bool,
    manager: bool,
}

impl Has {
    fn new(policies: Policies) -> Self {
        let processing = policies.request_processing;
        Self {
            retain: policies.servant_retention == ServantRetention::Retain,
            unique: policies.id_uniqueness == IdUniqueness::Unique,
            system: policies.id_assignment == IdAssignment::System,
            implicit: policies.implicit_activation == ImplicitActivation::Implicit,
            map_only: processing == RequestProcessing::ActiveObjectMapOnly,
            default_servant: processing == RequestProcessing::DefaultServant,
            manager: processing == RequestProcessing::ServantManager,
        }
    }

    fn is_legal(&self) -> bool {
        (self.retain || self.default_servant || self.manager)
            && (self.retain || !self.map_only)
            && (!self.unique || !self.default_servant)
            && (!self.implicit || (self.system && self.retain))
    }
}

/// An operation's result: `WrongPolicy` unless the policies have it, and else whatever `check` says.
#[track_caller]
fn if_has<T: Debug>(has: bool, result: Result<T, Error>, check: impl FnOnce(Result<T, Error>)) {
    match has {
        true => check(result),
        false => is_wrong_policy(result),
    }
}

#[track_caller]
fn fails<T: Debug>(expected: AdapterError) -> impl FnOnce(Result<T, Error>) {
    move |result| assert_eq!(adapter_error(result), expected)
}

fn is_ok<T: Debug>(result: Result<T, Error>) {
    result.unwrap();
}

fn system_exception<T: Debug>(result: Result<T, Error>) -> (Kind, u32) {
    let exception = SystemException::from(result.unwrap_err());
    (exception.kind, exception.minor)
}

/// A manager of both kinds, which is never asked.
struct Never;

impl ServantActivator for Never {
    async fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<Servant, ServantManagerError> {
        Err(SystemException::from(Kind::Internal).into())
    }
}

impl ServantLocator for Never {
    type Cookie = ();

    async fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        Err(SystemException::from(Kind::Internal).into())
    }
}

#[tokio::test]
async fn exactly_the_legal_combinations_of_policies_make_an_adapter() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let mut legal = 0;
    for policies in combinations() {
        let made = root.create_poa_with("any", policies, None);
        if Has::new(policies).is_legal() {
            legal += 1;
            let poa = made.unwrap();
            assert_eq!(poa.policies(), policies);
            // A manager of its own begins HOLDING.
            assert_eq!(poa.the_poa_manager().state(), PoaManagerState::Holding);
            let again = root.create_poa_with("any", policies, None).map(|_| ());
            assert_eq!(
                adapter_error(again),
                AdapterError::AlreadyExists("any".to_owned())
            );
            poa.destroy();
        } else {
            let error = adapter_error(made.map(|_| ()));
            assert!(matches!(error, AdapterError::InvalidPolicy(_)), "{error}");
        }
    }
    // Of 3 × 2^5 × 3.
    assert_eq!((combinations().len(), legal), (288, 126));
    assert_eq!(root.policies(), Policies::ROOT);
    let of_root = Policies::DEFAULT.with_implicit_activation(ImplicitActivation::Implicit);
    assert_eq!(Policies::ROOT, of_root);
    world.end().await;
}

#[tokio::test]
async fn each_operation_is_there_for_the_policies_that_the_specification_names() {
    let world = World::new().await;
    let elsewhere = world.poa("elsewhere", user());
    let foreign: DrawerRef = elsewhere.create_reference_with_id("foreign").unwrap();
    for (number, policies) in combinations().into_iter().enumerate() {
        let has = Has::new(policies);
        if !has.is_legal() {
            continue;
        }
        // Names of their own: a persistent POA waits for the objects of the one of its name before.
        let poa = world.poa(&number.to_string(), policies);
        let (one, other) = (desk("one"), desk("other"));
        let mapped = has.retain && (has.unique || has.implicit);

        // Before anything is active.
        let id = match has.system {
            true => {
                let early: DrawerRef = poa.create_reference().unwrap();
                let foreign = poa.create_reference_with_id::<DrawerRef>("mine");
                let unknown = (Kind::BadParam, minor::UNKNOWN_OBJECT_ID);
                assert_eq!(system_exception(foreign), unknown);
                poa.reference_to_id(&early).unwrap()
            }
            false => {
                is_wrong_policy(poa.create_reference::<DrawerRef>());
                ObjectId::from("mine")
            }
        };
        let early: DrawerRef = poa.create_reference_with_id(&id).unwrap();
        assert_eq!(poa.reference_to_id(&early).unwrap(), id);
        let wrong = adapter_error(poa.reference_to_id(&foreign));
        assert_eq!(wrong, AdapterError::WrongAdapter);
        if_has(
            has.retain,
            poa.id_to_reference(&id),
            fails(AdapterError::ObjectNotActive),
        );
        // A transient POA that has nothing but its map gives up the place of an id that it has assigned.
        let gives_up = has.system && has.map_only && policies.lifespan == Lifespan::Transient;
        if !gives_up {
            if_has(
                has.retain,
                poa.deactivate_object_with_id(&id),
                fails(AdapterError::ObjectNotActive),
            );
        }
        let finds = has.retain || has.default_servant;
        if_has(
            finds,
            poa.id_to_servant::<Desk>(&id),
            fails(AdapterError::ObjectNotActive),
        );
        if_has(
            finds,
            poa.reference_to_servant::<Desk>(&early),
            fails(AdapterError::ObjectNotActive),
        );
        let stray = adapter_error(poa.reference_to_servant::<Desk>(&foreign));
        assert_eq!(stray, AdapterError::WrongAdapter);
        if !has.implicit {
            if_has(
                mapped || has.default_servant,
                poa.servant_to_id(&drawer(&one)),
                fails(AdapterError::ServantNotActive),
            );
            if_has(
                mapped,
                poa.servant_to_reference(&drawer(&one)),
                fails(AdapterError::ServantNotActive),
            );
        }

        // Activation.
        if_has(
            has.retain,
            poa.activate_object_with_id(&id, drawer(&one)),
            is_ok,
        );
        if has.retain {
            let taken = poa.activate_object_with_id(&id, drawer(&other));
            let already = AdapterError::ObjectAlreadyActive(id.clone());
            assert_eq!(adapter_error(taken), already);
            assert!(Arc::ptr_eq(&poa.id_to_servant::<Desk>(&id).unwrap(), &one));
            let servant = poa.reference_to_servant::<Desk>(&early).unwrap();
            assert!(Arc::ptr_eq(&servant, &one));
            let reference = poa.id_to_reference(&id).unwrap();
            assert_eq!(poa.reference_to_id(&reference).unwrap(), id);
        }
        if has.retain && has.system {
            let foreign = poa.activate_object_with_id("foreign", drawer(&other));
            let unknown = (Kind::BadParam, minor::UNKNOWN_OBJECT_ID);
            assert_eq!(system_exception(foreign), unknown);
        }
        // The servant is active under the first id.
        if_has(
            has.retain && has.system,
            poa.activate(drawer(&one)),
            |again| match has.unique {
                true => assert_eq!(adapter_error(again), AdapterError::ServantAlreadyActive),
                false => is_ok(again),
            },
        );
        if has.retain && !has.system {
            let again = poa.activate_object_with_id("another", drawer(&one));
            match has.unique {
                true => assert_eq!(adapter_error(again), AdapterError::ServantAlreadyActive),
                false => is_ok(again),
            }
        }
        if_has(
            mapped || has.default_servant,
            poa.servant_to_id(&drawer(&one)),
            |found| match (has.retain && has.unique, has.implicit) {
                (true, _) => assert_eq!(found.unwrap(), id),
                // MULTIPLE_ID: a fresh one.
                (false, true) => assert_ne!(found.unwrap(), id),
                // The default servant, and no request.
                (false, false) => {
                    assert_eq!(adapter_error(found), AdapterError::ServantNotActive);
                }
            },
        );
        if_has(mapped, poa.servant_to_reference(&drawer(&one)), is_ok);

        // The way in which requests for inactive objects are served.
        if_has(
            has.default_servant,
            poa.get_servant(),
            fails(AdapterError::NoServant),
        );
        if_has(has.default_servant, poa.set_servant(drawer(&other)), is_ok);
        if_has(has.default_servant, poa.get_servant(), |servant| {
            let servant = servant.unwrap().downcast::<Desk>().unwrap();
            assert!(Arc::ptr_eq(&servant, &other));
        });
        if_has(has.manager, poa.has_servant_manager(), |set| {
            assert!(!set.unwrap());
        });
        if_has(
            has.manager && has.retain,
            poa.set_servant_manager(Never),
            is_ok,
        );
        if_has(
            has.manager && !has.retain,
            poa.set_servant_locator(Never),
            is_ok,
        );
        if has.manager {
            assert!(poa.has_servant_manager().unwrap());
            let again = match has.retain {
                true => poa.set_servant_manager(Never),
                false => poa.set_servant_locator(Never),
            };
            let set = (Kind::BadInvOrder, minor::SERVANT_MANAGER_SET);
            assert_eq!(system_exception(again), set);
        }

        // Of a POA that has been destroyed.
        poa.destroy();
        let gone = (Kind::ObjectNotExist, 0);
        assert_eq!(system_exception(poa.activate(drawer(&other))), gone);
        assert_eq!(
            system_exception(poa.create_reference_with_id::<DrawerRef>(&id)),
            gone
        );
        // While objects are being etherealized it is another exception.
        if !(has.manager && has.retain) {
            assert_eq!(system_exception(poa.create_poa("child", None)), gone);
        }
    }
    world.end().await;
}

/// An object of the adapter's that is not active, and one that is, if there can be one.
fn objects(poa: &Poa, has: &Has) -> (DrawerRef, Option<DrawerRef>) {
    let missing = match has.system {
        true => poa.create_reference(),
        false => poa.create_reference_with_id("missing"),
    };
    let active = has.retain.then(|| match has.system {
        true => poa.activate(drawer(&desk("active"))),
        false => poa.activate_object_with_id("active", drawer(&desk("active"))),
    });
    (missing.unwrap(), active.map(Result::unwrap))
}

#[tokio::test]
async fn requests_come_to_what_policies_and_states_say_near_and_far() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    for policies in combinations() {
        let has = Has::new(policies);
        if !has.is_legal() {
            continue;
        }
        let poa = root.create_poa_with("any", policies, None).unwrap();
        let manager = Arc::clone(poa.the_poa_manager());
        manager.activate().unwrap();
        let (missing, active) = objects(&poa, &has);
        let expected = match policies.request_processing {
            RequestProcessing::ActiveObjectMapOnly => (Kind::ObjectNotExist, 0),
            RequestProcessing::DefaultServant => (Kind::ObjAdapter, minor::NO_DEFAULT_SERVANT),
            RequestProcessing::ServantManager => (Kind::ObjAdapter, minor::NO_SERVANT_MANAGER),
        };
        for drawer in world.both(&missing).await {
            let error = in_time(drawer.label()).await.unwrap_err();
            assert_eq!((error.kind, error.minor), expected);
            assert_eq!(error.completed, CompletionStatus::No);
        }
        let drawers = match &active {
            Some(active) => world.both(active).await.to_vec(),
            None => Vec::new(),
        };
        for drawer in &drawers {
            assert_eq!(in_time(drawer.label()).await.unwrap(), "active");
        }
        // The states come before all of that.
        let missing = world.both(&missing).await;
        let all: Vec<_> = drawers.iter().chain(&missing).collect();
        manager.discard_requests().unwrap();
        for drawer in &all {
            let discarded = (Kind::Transient, minor::REQUEST_DISCARDED);
            assert_eq!(raised(in_time(drawer.label()).await), discarded);
        }
        manager.hold_requests().unwrap();
        let held: Vec<_> = all
            .iter()
            .map(|&drawer| {
                let drawer = drawer.clone();
                spawn(async move { drawer.label().await })
            })
            .collect();
        // An object that is activated meanwhile.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert!(held.iter().all(|call| !call.is_finished()));
        manager.activate().unwrap();
        for (at, call) in held.into_iter().enumerate() {
            let result = in_time(call).await.unwrap();
            match at < drawers.len() {
                true => assert_eq!(result.unwrap(), "active"),
                false => assert_eq!(raised(result), expected),
            }
        }
        manager.deactivate();
        for drawer in &all {
            let inactive = (Kind::ObjAdapter, minor::ADAPTER_INACTIVE);
            assert_eq!(raised(in_time(drawer.label()).await), inactive);
        }
        poa.destroy();
        for drawer in &all {
            let gone = (Kind::ObjectNotExist, minor::NO_ADAPTER);
            assert_eq!(raised(in_time(drawer.label()).await), gone);
        }
    }
    world.end().await;
}

#[tokio::test]
async fn managers_change_their_states_as_the_table_says() {
    let world = World::new().await;
    let root = world.orb.root_poa();
    let states = [
        PoaManagerState::Holding,
        PoaManagerState::Active,
        PoaManagerState::Discarding,
        PoaManagerState::Inactive,
    ];
    for (from, to, waits) in states
        .iter()
        .flat_map(|from| states.map(|to| (*from, to)))
        .flat_map(|(from, to)| [false, true].map(|waits| (from, to, waits)))
    {
        let poa = root.create_poa("any", None).unwrap();
        let manager = poa.the_poa_manager();
        match from {
            PoaManagerState::Holding => {}
            PoaManagerState::Active => manager.activate().unwrap(),
            PoaManagerState::Discarding => manager.discard_requests().unwrap(),
            PoaManagerState::Inactive => manager.deactivate(),
        }
        assert_eq!(manager.state(), from);
        let inactive =
            |result: Result<(), zorb::AdapterInactive>| result.map_err(ManagerError::from);
        let result = match (to, waits) {
            (PoaManagerState::Active, _) => inactive(manager.activate()),
            (PoaManagerState::Holding, false) => inactive(manager.hold_requests()),
            (PoaManagerState::Holding, true) => in_time(manager.hold_requests_and_wait()).await,
            (PoaManagerState::Discarding, false) => inactive(manager.discard_requests()),
            (PoaManagerState::Discarding, true) => {
                in_time(manager.discard_requests_and_wait()).await
            }
            (PoaManagerState::Inactive, false) => {
                manager.deactivate();
                Ok(())
            }
            (PoaManagerState::Inactive, true) => in_time(manager.deactivate_and_wait(true)).await,
        };
        // INACTIVE is final, and to deactivate once more is no error.
        match from == PoaManagerState::Inactive && to != PoaManagerState::Inactive {
            true => {
                assert!(matches!(result, Err(ManagerError::Inactive(_))), "{to:?}");
                assert_eq!(manager.state(), PoaManagerState::Inactive);
            }
            false => {
                assert_eq!(result, Ok(()), "{from:?} to {to:?}");
                assert_eq!(manager.state(), to);
            }
        }
        // The state does not touch operations of the POA.
        poa.activate(drawer(&desk("any"))).unwrap();
        poa.destroy();
    }
    world.end().await;
}
