//! `PortableServer::Current`.

use super::*;
use crate::savings::spawn;
use zorb::{NoContext, ObjectRef};

zorb::idl! {
    interface Mirror {
        /// References to itself, as the request context has them.
        Mirror itself();
        /// Whether a task that it starts has a context.
        boolean has_context_in_task();
    };
}

struct Glass;

impl Mirror for Glass {
    async fn itself(&self) -> Result<Option<MirrorRef>, SystemException> {
        let servant = PoaCurrent::get_servant::<Self>()?;
        assert!(std::ptr::eq(&*servant, self));
        let poa = PoaCurrent::get_poa()?;
        // Inside an upcall on the servant its reference is that of the request, whatever the policies.
        let reference = poa.servant_to_reference(&MirrorServant::from_arc(servant))?;
        assert_eq!(PoaCurrent::get_reference::<MirrorRef>()?, reference);
        let id = poa.reference_to_id(&reference)?;
        assert_eq!(PoaCurrent::get_object_id()?, id);
        Ok(Some(reference))
    }

    async fn has_context_in_task(&self) -> Result<bool, SystemException> {
        let task = spawn(async { PoaCurrent::get_object_id().is_ok() });
        task.await
            .map_err(|_| SystemException::from(Kind::Internal))
    }
}

#[tokio::test]
async fn a_servant_learns_its_object_from_the_request() {
    let world = World::new().await;
    for policies in [
        user(),
        user().with_id_uniqueness(IdUniqueness::Multiple),
        default_servant(ServantRetention::Retain),
        default_servant(ServantRetention::NonRetain),
    ] {
        let poa = world.poa("mirrors", policies);
        let mirror: MirrorRef = match policies.request_processing {
            RequestProcessing::DefaultServant => {
                poa.set_servant(MirrorServant::new(Glass)).unwrap();
                poa.create_reference_with_id("m").unwrap()
            }
            _ => poa
                .activate_object_with_id("m", MirrorServant::new(Glass))
                .unwrap(),
        };
        let far = world.client.string_to_object(&mirror.to_string()).await;
        for seen in [mirror.clone(), far.unwrap().unchecked_narrow()] {
            let itself = in_time(seen.itself()).await.unwrap().unwrap();
            assert_eq!(itself.to_string(), mirror.to_string());
            assert!(!in_time(seen.has_context_in_task()).await.unwrap());
        }
        poa.destroy();
    }
    world.end().await;
}

#[tokio::test]
async fn outside_of_upcalls_there_is_no_context() {
    assert_eq!(PoaCurrent::get_object_id(), Err(NoContext));
    assert!(matches!(PoaCurrent::get_poa(), Err(NoContext)));
    let reference = PoaCurrent::get_reference::<ObjectRef>();
    assert!(matches!(reference, Err(Error::NoContext(NoContext))));
    let servant = PoaCurrent::get_servant::<Desk>();
    assert!(matches!(servant, Err(Error::NoContext(NoContext))));
    assert_eq!(SystemException::from(NoContext).kind, Kind::BadInvOrder);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nested_and_simultaneous_upcalls_have_contexts_of_their_own() {
    let world = World::new().await;
    let poa = world.poa("desk", default_servant(ServantRetention::NonRetain));
    poa.set_servant(drawer(&desk("all"))).unwrap();
    let mut calls = Vec::new();
    for n in 0..40 {
        let (outer, inner): (DrawerRef, DrawerRef) = (
            poa.create_reference_with_id(format!("outer {n}")).unwrap(),
            poa.create_reference_with_id(format!("inner {n}")).unwrap(),
        );
        for outer in world.both(&outer).await {
            let inner = inner.clone();
            let expected = format!("outer {n} inner {n} outer {n}");
            calls.push(spawn(async move {
                assert_eq!(outer.nested(&inner).await.unwrap(), expected);
            }));
        }
    }
    for call in calls {
        in_time(call).await.unwrap();
    }
    world.end().await;
}
