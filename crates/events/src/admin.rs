//! A channel's objects that clients get proxies from.

use crate::channel::{Channel, Disconnect};
use crate::consumer_proxy::{Consumer, ConsumerProxy};
use crate::cos_event_channel_admin::{
    ConsumerAdmin, ConsumerAdminRef, ConsumerAdminServant, EventChannel, EventChannelRef,
    EventChannelServant, ProxyPullConsumerRef, ProxyPullConsumerServant, ProxyPullSupplierRef,
    ProxyPullSupplierServant, ProxyPushConsumerRef, ProxyPushConsumerServant, ProxyPushSupplierRef,
    ProxyPushSupplierServant, SupplierAdmin, SupplierAdminRef, SupplierAdminServant,
};
use crate::supplier_proxy::{Supplier, SupplierProxy};
use std::sync::Arc;
use zorb::{Interface, SystemException};

/// The servant of a channel and of its admins.
pub(crate) struct Admin(pub(crate) Arc<Channel>);

impl Channel {
    /// Activates the objects of the channel.
    pub(crate) fn activate(self: &Arc<Self>) -> Result<EventChannelRef, zorb::Error> {
        let poa = &self.context.poa;
        let admin = Arc::new(Admin(Arc::clone(self)));
        poa.activate_object_with_id(
            self.object_id("c"),
            ConsumerAdminServant::from_arc(Arc::clone(&admin)),
        )?;
        poa.activate_object_with_id(
            self.object_id("s"),
            SupplierAdminServant::from_arc(Arc::clone(&admin)),
        )?;
        poa.activate_object_with_id(self.object_id("e"), EventChannelServant::from_arc(admin))
    }

    /// The reference of a part of the channel.
    pub(crate) fn reference<T: Interface>(&self, part: &str) -> Result<T, zorb::Error> {
        let id = self.object_id(part);
        self.context.poa.create_reference_with_id(id)
    }

    /// Deactivates what [`activate`](Self::activate) has activated.
    pub(crate) fn deactivate(&self) {
        for part in ["e", "c", "s"] {
            let _ = self
                .context
                .poa
                .deactivate_object_with_id(self.object_id(part));
        }
    }

    /// Activates the object of a proxy of consumers.
    pub(crate) fn activate_supplier(
        self: &Arc<Self>,
        proxy: &Arc<SupplierProxy>,
    ) -> Result<(), SystemException> {
        let weak = Arc::downgrade(proxy);
        self.add_proxy(proxy.number, weak)?;
        let servant = Supplier(Arc::clone(proxy));
        let id = self.object_id(&format!("p{}", proxy.number));
        let poa = &self.context.poa;
        match proxy.is_push {
            true => poa
                .activate_object_with_id(id, ProxyPushSupplierServant::new(servant))
                .map(drop)?,
            false => poa
                .activate_object_with_id(id, ProxyPullSupplierServant::new(servant))
                .map(drop)?,
        }
        Ok(())
    }

    /// Activates the object of a proxy of suppliers.
    pub(crate) fn activate_consumer(
        self: &Arc<Self>,
        proxy: &Arc<ConsumerProxy>,
    ) -> Result<(), SystemException> {
        let weak = Arc::downgrade(proxy);
        self.add_proxy(proxy.number, weak)?;
        let servant = Consumer(Arc::clone(proxy));
        let id = self.object_id(&format!("p{}", proxy.number));
        let poa = &self.context.poa;
        match proxy.is_push {
            true => poa
                .activate_object_with_id(id, ProxyPushConsumerServant::new(servant))
                .map(drop)?,
            false => poa
                .activate_object_with_id(id, ProxyPullConsumerServant::new(servant))
                .map(drop)?,
        }
        Ok(())
    }

    async fn obtain_supplier<T: Interface>(
        self: &Arc<Self>,
        is_push: bool,
    ) -> Result<Option<T>, SystemException> {
        let proxy = SupplierProxy::new(self, self.new_proxy(), is_push);
        self.activate_supplier(&proxy)?;
        if let Err(exception) = proxy.store(None).await {
            proxy.disconnect(false);
            return Err(exception);
        }
        Ok(Some(self.reference(&format!("p{}", proxy.number))?))
    }

    async fn obtain_consumer<T: Interface>(
        self: &Arc<Self>,
        is_push: bool,
    ) -> Result<Option<T>, SystemException> {
        let proxy = ConsumerProxy::new(self, self.new_proxy(), is_push);
        self.activate_consumer(&proxy)?;
        if let Err(exception) = proxy.store().await {
            proxy.disconnect(false);
            return Err(exception);
        }
        Ok(Some(self.reference(&format!("p{}", proxy.number))?))
    }
}

impl EventChannel for Admin {
    async fn for_consumers(&self) -> Result<Option<ConsumerAdminRef>, SystemException> {
        Ok(Some(self.0.reference("c")?))
    }

    async fn for_suppliers(&self) -> Result<Option<SupplierAdminRef>, SystemException> {
        Ok(Some(self.0.reference("s")?))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.0.destroy().await
    }
}

impl ConsumerAdmin for Admin {
    async fn obtain_push_supplier(&self) -> Result<Option<ProxyPushSupplierRef>, SystemException> {
        self.0.obtain_supplier(true).await
    }

    async fn obtain_pull_supplier(&self) -> Result<Option<ProxyPullSupplierRef>, SystemException> {
        self.0.obtain_supplier(false).await
    }
}

impl SupplierAdmin for Admin {
    async fn obtain_push_consumer(&self) -> Result<Option<ProxyPushConsumerRef>, SystemException> {
        self.0.obtain_consumer(true).await
    }

    async fn obtain_pull_consumer(&self) -> Result<Option<ProxyPullConsumerRef>, SystemException> {
        self.0.obtain_consumer(false).await
    }
}
