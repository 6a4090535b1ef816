//! Slots, with their two scopes.

use super::{Servant, TillRef, TillServant};
use std::sync::{Arc, Mutex};
use zorb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Interception, InvalidSlot, PiCurrent,
    ServerRequestInfo, ServerRequestInterceptor, SlotId,
};
use zorb::{Orb, SystemException};

type Log = Arc<Mutex<Vec<String>>>;

struct Slotted {
    slot: SlotId,
    log: Log,
}

impl ClientRequestInterceptor for Slotted {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let value = info.slot::<u32>(self.slot).unwrap();
        let own = info.orb().pi_current();
        // The slots of the interceptor are its own.
        assert_eq!(own.get_slot::<u32>(self.slot), Ok(None));
        own.set_slot(self.slot, 77_u32).unwrap();
        let text = format!("client {} {value:?}", info.operation());
        self.log.lock().unwrap().push(text);
        Interception::CONTINUE
    }

    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let value = info.slot::<u32>(self.slot).unwrap();
        let text = format!("client {} done {value:?}", info.operation());
        self.log.lock().unwrap().push(text);
        Interception::CONTINUE
    }
}

impl ServerRequestInterceptor for Slotted {
    fn receive_request_service_contexts<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a> {
        assert_eq!(info.slot::<u32>(self.slot), Ok(None));
        info.set_slot(self.slot, 5_u32).unwrap();
        Interception::CONTINUE
    }

    fn send_reply<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let value = info.slot::<u32>(self.slot).unwrap();
        let text = format!("server {} done {value:?}", info.operation());
        self.log.lock().unwrap().push(text);
        Interception::CONTINUE
    }
}

/// A servant that counts its slot up, before and after an await.
struct Counting(Orb, SlotId);

impl super::Till for Counting {
    async fn add(&self, _: i32) -> Result<(i32, i32), SystemException> {
        let current = self.0.pi_current();
        let value = || {
            current
                .get_slot::<u32>(self.1)
                .unwrap()
                .map_or(0, |value| *value)
        };
        current.set_slot(self.1, value() + 1)?;
        tokio::task::yield_now().await;
        current.set_slot(self.1, value() + 1)?;
        Ok((value() as i32, 0))
    }

    async fn refuse(&self, _: &str) -> Result<(), super::till::RefuseError> {
        Ok(())
    }

    async fn fail(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn die(&self) -> Result<(), SystemException> {
        Ok(())
    }

    async fn note(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    async fn relay(&self, to: Option<TillRef>) -> Result<(), SystemException> {
        // The servant's own calls take its slots along.
        to.unwrap().pass().await
    }

    async fn pass(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_travel_from_the_caller_to_its_interceptors_and_from_the_servers_to_the_servant() {
    let log = Log::default();
    let mut builder = Orb::builder().listen("iiop://127.0.0.1:0");
    let slot = builder.allocate_slot();
    let slotted = || Slotted {
        slot,
        log: Arc::clone(&log),
    };
    let orb = builder
        .client_interceptor(slotted())
        .server_interceptor(slotted())
        .build()
        .await
        .unwrap();
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let till = poa
        .activate(TillServant::new(Counting(orb.clone(), slot)))
        .unwrap();
    let plain = poa.activate(TillServant::new(Servant)).unwrap();
    let mut client = Orb::builder();
    let foreign = client.allocate_slot();
    let client = client.build().await.unwrap();
    let far = client.string_to_object(&till.to_string()).await.unwrap();
    let far: TillRef = far.unchecked_narrow();
    let take = || std::mem::take(&mut *log.lock().unwrap());

    // A remote client without interceptors: the servant has what the server's interceptor has set.
    assert_eq!(far.add(0).await.unwrap().0, 7);
    assert_eq!(take(), ["server add done Some(7)"]);
    far.relay(&plain).await.unwrap();
    assert_eq!(
        take(),
        [
            "client pass Some(5)",
            "server pass done Some(5)",
            "client pass done Some(5)",
            "server relay done Some(5)",
        ]
    );
    // The caller's slots stay its own, whatever servants and interceptors do.
    PiCurrent::scope(async {
        let current = orb.pi_current();
        current.set_slot(slot, 1_u32).unwrap();
        assert_eq!(till.add(0).await.unwrap().0, 7);
        assert_eq!(
            take(),
            [
                "client add Some(1)",
                "server add done Some(7)",
                "client add done Some(1)"
            ]
        );
        let get = move |orb: &Orb| orb.pi_current().get_slot::<u32>(slot).unwrap();
        assert_eq!(get(&orb).as_deref(), Some(&1));
        let (one, other) = (orb.clone(), orb.clone());
        // A spawned task has them if it is told to.
        let inherits = tokio::spawn(PiCurrent::scope(async move { get(&one) }));
        assert_eq!(inherits.await.unwrap().as_deref(), Some(&1));
        assert_eq!(
            tokio::spawn(async move { get(&other) }).await.unwrap(),
            None
        );
        current.clear_slot(slot).unwrap();
        assert_eq!(get(&orb), None);
    })
    .await;
    let current = orb.pi_current();
    assert_eq!(current.get_slot::<u32>(foreign), Err(InvalidSlot));
    assert_eq!(current.set_slot(foreign, 1_u32), Err(InvalidSlot));
    let foreign_error = SystemException::from(InvalidSlot);
    assert_eq!(foreign_error.kind, zorb::SystemExceptionKind::BadParam);
    client.shutdown(true).await.unwrap();
    orb.shutdown(true).await.unwrap();
}
