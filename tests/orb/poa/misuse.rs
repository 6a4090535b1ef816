//! Servant managers that do what they should not: the request gets an exception of the specification, and the adapter goes on.

use super::adapters::{GateServant, Slow};
use super::*;
use crate::savings::spawn;
use tokio::sync::Semaphore;
use zorb::{ObjectId, Servant, ServantActivator, ServantLocator, ServantManagerError, minor};

struct Misuses {
    /// Upcalls that wait, and what lets them go on.
    entered: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

impl Misuses {
    async fn find(
        &self,
        id: &ObjectId,
        poa: &Poa,
        retention: ServantRetention,
    ) -> Result<Servant, ServantManagerError> {
        let good = || drawer(&desk(&id.to_string()));
        match id.as_ref() {
            b"forwards to itself" => {
                let itself: DrawerRef = poa.create_reference_with_id(id)?;
                Err(ServantManagerError::ForwardRequest(
                    itself.as_object().clone(),
                ))
            }
            b"gives another type" => {
                Ok(GateServant::new(Slow::new(&self.entered, &self.go_on)).into())
            }
            b"deactivates" => {
                let error = adapter_error(poa.deactivate_object_with_id(id));
                match retention {
                    ServantRetention::Retain => assert_eq!(error, AdapterError::ObjectNotActive),
                    ServantRetention::NonRetain => {
                        assert!(matches!(error, AdapterError::WrongPolicy(_)));
                    }
                }
                Ok(good().into())
            }
            b"activates by itself" if retention == ServantRetention::Retain => {
                poa.activate_object_with_id(id, drawer(&desk("activated")))?;
                Ok(good().into())
            }
            b"waits" => {
                self.entered.add_permits(1);
                let permit = self.go_on.acquire().await.expect("it is not closed");
                permit.forget();
                Ok(good().into())
            }
            b"destroys" => {
                poa.destroy();
                Ok(good().into())
            }
            _ => Ok(good().into()),
        }
    }
}

impl ServantActivator for Misuses {
    async fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Servant, ServantManagerError> {
        self.find(id, poa, ServantRetention::Retain).await
    }
}

impl ServantLocator for Misuses {
    type Cookie = ();

    async fn preinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        _: &str,
    ) -> Result<(Servant, ()), ServantManagerError> {
        let found = self.find(id, poa, ServantRetention::NonRetain).await;
        Ok((found?, ()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn managers_that_misbehave_harm_no_other_request() {
    let world = World::new().await;
    for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
        for at in 0..2 {
            let poa = world.poa("managed", managed(retention));
            let (entered, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
            let misuses = Misuses {
                entered: Arc::clone(&entered),
                go_on: Arc::clone(&go_on),
            };
            match retention {
                ServantRetention::Retain => poa.set_servant_manager(misuses),
                ServantRetention::NonRetain => poa.set_servant_locator(misuses),
            }
            .unwrap();
            let object = async |id: &str| {
                let reference: DrawerRef = poa.create_reference_with_id(id).unwrap();
                world.both(&reference).await[at].clone()
            };
            let label = async |id: &str| in_time(object(id).await.label()).await;
            let fine = object("fine").await;

            // One that waits keeps the requests for its object waiting, and no others.
            let waiting = object("waits").await;
            let waiting = spawn(async move { waiting.label().await });
            in_time(entered.acquire()).await.unwrap().forget();

            // A client follows so many forwards and no more.
            let circle = raised(label("forwards to itself").await);
            assert_eq!(circle.0, Kind::Transient);
            let other = raised(label("gives another type").await);
            assert_eq!(other, (Kind::BadOperation, minor::NO_SUCH_OPERATION));
            assert_eq!(label("deactivates").await.unwrap(), "deactivates");
            let by_itself = match retention {
                ServantRetention::Retain => "activated",
                ServantRetention::NonRetain => "activates by itself",
            };
            assert_eq!(label("activates by itself").await.unwrap(), by_itself);
            assert_eq!(label("fine").await.unwrap(), "fine");

            assert!(!waiting.is_finished());
            go_on.add_permits(1);
            assert_eq!(in_time(waiting).await.unwrap().unwrap(), "waits");
            // A request that has begun ends.
            assert_eq!(label("destroys").await.unwrap(), "destroys");
            let gone = (Kind::ObjectNotExist, minor::NO_ADAPTER);
            assert_eq!(raised(in_time(fine.label()).await), gone);
        }
    }
    world.end().await;
}
