//! A channel's objects that clients get proxies from.

use crate::channel::{Channel, Form, Place, Proxy, typed_part};
use crate::consumer_proxy::{Consumer, ConsumerProxy};
use crate::cos_event_channel_admin as plain;
use crate::cos_notification::{
    AdminPropertiesAdmin, EventType, Property, UnsupportedAdmin, admin_properties_admin,
};
use crate::cos_notify_channel_admin::{
    self as cos, AdminLimit, AdminLimitExceeded, AdminNotFound, ClientType, ConsumerAdminRef,
    EventChannelFactoryRef, EventChannelRef, EventChannelServant, InterFilterGroupOperator,
    ProxyConsumerRef, ProxyNotFound, ProxySupplierRef, SupplierAdminRef, consumer_admin,
    supplier_admin,
};
use crate::cos_notify_comm::{self as comm, notify_publish, notify_subscribe};
use crate::cos_notify_filter::{FilterFactoryRef, FilterFactoryServant, MappingFilterRef};
use crate::cos_typed_event_channel_admin::{
    self as typed_plain, InterfaceNotSupported, NoSuchImplementation,
};
use crate::cos_typed_notify_channel_admin as typed;
use crate::filter::FilterFactory;
use crate::informer::Told;
use crate::node::{Common, Node, Target, mapping_reference};
use crate::qos::{Level, Qos};
use crate::stored::{self, Row};
use crate::supplier_proxy::{Supplier, SupplierProxy};
use crate::typed::{TypedConsumer, TypedInterface};
use crate::types::EventTypes;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zorb::{Any, DynamicSkeleton, Interface, SystemException, SystemExceptionKind, TcKind};

/// The number of the admin of suppliers that is there from the beginning. That of consumers has 0, and both have 0 as their id.
const DEFAULT_SUPPLIERS: u32 = u32::MAX;

/// The servant of an admin: of consumers or of suppliers.
pub(crate) struct Admin {
    pub(crate) channel: Arc<Channel>,
    pub(crate) number: u32,
    pub(crate) is_consumers: bool,
    /// Whether the filters of the admin or those of a proxy have to let an event pass, and not both.
    pub(crate) is_or: bool,
    pub(crate) node: Node,
    counted: crate::channel::Counted,
    is_destroyed: AtomicBool,
}

/// Why there is no new proxy.
enum NotMade {
    Limit(AdminLimitExceeded),
    System(SystemException),
}

impl<E: Into<SystemException>> From<E> for NotMade {
    fn from(exception: E) -> Self {
        Self::System(exception.into())
    }
}

impl NotMade {
    /// For operations that have no exception for it.
    fn into_system(self) -> SystemException {
        match self {
            Self::Limit(_) => SystemExceptionKind::ImpLimit.into(),
            Self::System(exception) => exception,
        }
    }

    fn into_error<E: From<AdminLimitExceeded> + From<SystemException>>(self) -> E {
        match self {
            Self::Limit(limit) => limit.into(),
            Self::System(exception) => exception.into(),
        }
    }
}

impl Admin {
    pub(crate) fn new(
        channel: &Arc<Channel>,
        number: u32,
        is_consumers: bool,
        is_or: bool,
    ) -> Arc<Self> {
        let types = match is_consumers {
            true => EventTypes::all(),
            false => EventTypes::default(),
        };
        Arc::new(Self {
            channel: Arc::clone(channel),
            number,
            is_consumers,
            is_or,
            node: Node::new(channel.node.get().qos.clone(), types),
            counted: crate::channel::Counted::default(),
            is_destroyed: AtomicBool::new(false),
        })
    }

    fn is_default(&self) -> bool {
        matches!(self.number, 0 | DEFAULT_SUPPLIERS)
    }

    /// The number that clients know it by.
    fn id(&self) -> i32 {
        match self.is_default() {
            true => 0,
            false => i32::try_from(self.number).unwrap_or_default(),
        }
    }

    fn part(&self) -> String {
        match (self.is_default(), self.is_consumers) {
            (true, true) => "c".to_owned(),
            (true, false) => "s".to_owned(),
            (false, _) => format!("a{}", self.number),
        }
    }

    pub(crate) fn reference<T: Interface>(&self) -> Result<T, SystemException> {
        Ok(self.channel.reference(&self.part())?)
    }

    /// Activates the object, and has the channel know it.
    pub(crate) fn activate(self: &Arc<Self>) -> Result<(), SystemException> {
        if !self.is_default() {
            self.channel.add_admin(self)?;
        }
        let id = self.channel.object_id(&self.part());
        let poa = &self.channel.context.poa;
        let admin = Arc::clone(self);
        match self.is_consumers {
            true => poa
                .activate_object_with_id(id, typed::TypedConsumerAdminServant::from_arc(admin))
                .map(drop)?,
            false => poa
                .activate_object_with_id(id, typed::TypedSupplierAdminServant::from_arc(admin))
                .map(drop)?,
        }
        Ok(())
    }

    /// Goes on as in an earlier run.
    pub(crate) fn restore(&self, stored: &stored::Node) {
        self.node.restore(&self.channel, stored);
        self.apply();
    }

    /// Ends its proxies, and its object unless the channel has it from the beginning.
    pub(crate) fn end(&self) {
        for (_, proxy) in self.proxies() {
            proxy.disconnect(true);
        }
        if self.is_default() || self.is_destroyed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.channel
            .count(Told::Offers, &self.counted, BTreeSet::new());
        self.channel.remove_admin(self.number);
        let id = self.channel.object_id(&self.part());
        let _ = self.channel.context.poa.deactivate_object_with_id(id);
        let (channel, number) = (Arc::clone(&self.channel), self.number);
        tokio::spawn(async move { channel.remove_row(number).await });
    }

    fn proxies(&self) -> Vec<(u32, Arc<dyn Proxy>)> {
        let mut proxies = self.channel.numbered_proxies();
        proxies.retain(|(_, proxy)| {
            let place = proxy.place();
            (place.admin, place.is_supplier) == (self.number, self.is_consumers)
        });
        proxies
    }

    /// The ids of proxies that CosNotification has operations for.
    fn proxy_ids(&self, is_push: bool) -> Vec<i32> {
        let proxies = self.proxies().into_iter();
        let ids = proxies.filter(|(_, proxy)| {
            let place = proxy.place();
            place.is_push == is_push && place.form.is_notification()
        });
        ids.filter_map(|(number, _)| i32::try_from(number).ok())
            .collect()
    }

    fn find_proxy<T: Interface>(
        &self,
        id: i32,
    ) -> Result<Result<T, ProxyNotFound>, SystemException> {
        let number = u32::try_from(id).ok();
        let proxy = number.and_then(|number| Some((number, self.channel.find_proxy(number)?)));
        let found = proxy.filter(|(_, proxy)| {
            let place = proxy.place();
            (place.admin, place.is_supplier) == (self.number, self.is_consumers)
                && place.form.is_notification()
        });
        match found {
            Some((number, _)) => Ok(Ok(self.channel.proxy_reference(number)?)),
            None => Ok(Err(ProxyNotFound {})),
        }
    }

    /// Whether there may be a further proxy of this side.
    fn check_limit(&self) -> Result<(), NotMade> {
        if self.is_destroyed.load(Ordering::Relaxed) {
            return Err(SystemExceptionKind::ObjectNotExist.into());
        }
        let Some((name, limit)) = self.channel.admin_properties().limit(self.is_consumers) else {
            return Ok(());
        };
        let count = self.channel.count_proxies(self.is_consumers);
        match i32::try_from(count).is_ok_and(|count| count < limit) {
            true => Ok(()),
            false => Err(NotMade::Limit(AdminLimitExceeded {
                admin_property_err: AdminLimit {
                    name: name.to_owned(),
                    value: Any::new(&limit).unwrap_or_default(),
                },
            })),
        }
    }

    /// Makes a proxy; its reference and its id.
    async fn obtain<T: Interface>(
        self: &Arc<Self>,
        is_push: bool,
        form: Form,
        interface: Option<Arc<TypedInterface>>,
    ) -> Result<(Option<T>, i32), NotMade> {
        self.check_limit()?;
        let number = self.channel.new_number();
        match self.is_consumers {
            true => {
                let proxy = SupplierProxy::new(self, number, is_push, form, interface);
                self.channel.activate_supplier(&proxy)?;
                if let Err(exception) = proxy.store(None).await {
                    proxy.disconnect(false);
                    return Err(exception.into());
                }
            }
            false => {
                let proxy = ConsumerProxy::new(self, number, is_push, form, interface);
                self.channel.activate_consumer(&proxy)?;
                if let Err(exception) = proxy.store().await {
                    proxy.disconnect(false);
                    return Err(exception.into());
                }
            }
        }
        let reference = self.channel.proxy_reference(number)?;
        Ok((Some(reference), i32::try_from(number).unwrap_or_default()))
    }
}

fn form(ctype: ClientType) -> Form {
    match ctype {
        ClientType::AnyEvent => Form::Any,
        ClientType::StructuredEvent => Form::Structured,
        ClientType::SequenceEvent => Form::Sequence,
    }
}

/// The servant of a channel.
pub(crate) struct ChannelObject(pub(crate) Arc<Channel>);

impl Channel {
    /// Activates the objects that a channel has from the beginning, and takes up what is stored of its admins.
    pub(crate) fn activate(self: &Arc<Self>) -> Result<EventChannelRef, zorb::Error> {
        let poa = &self.context.poa;
        self.default_admin(true).activate()?;
        self.default_admin(false).activate()?;
        let factory = FilterFactoryServant::new(FilterFactory(Arc::clone(self)));
        poa.activate_object_with_id(self.object_id("q"), factory)?;
        let typed = typed::TypedEventChannelServant::new(ChannelObject(Arc::clone(self)));
        poa.activate_object_with_id(self.object_id("t"), typed)?;
        let channel = EventChannelServant::new(ChannelObject(Arc::clone(self)));
        poa.activate_object_with_id(self.object_id("e"), channel)
    }

    fn default_admin(self: &Arc<Self>, is_consumers: bool) -> Arc<Admin> {
        let number = match is_consumers {
            true => 0,
            false => DEFAULT_SUPPLIERS,
        };
        Admin::new(self, number, is_consumers, false)
    }

    /// An admin that is served, by its number in the store.
    pub(crate) fn find_admin(&self, number: u32) -> Option<Arc<Admin>> {
        let part = match number {
            0 => "c".to_owned(),
            DEFAULT_SUPPLIERS => "s".to_owned(),
            number => format!("a{number}"),
        };
        self.context.poa.id_to_servant(self.object_id(&part)).ok()
    }

    /// Makes an admin of an earlier run again.
    pub(crate) fn restore_admin(
        self: &Arc<Self>,
        number: u32,
        row: &stored::Admin,
    ) -> Result<(), SystemException> {
        let admin = match self.find_admin(number) {
            Some(admin) => admin,
            None => {
                let admin = Admin::new(self, number, row.is_consumers, row.is_or);
                admin.activate()?;
                admin
            }
        };
        admin.restore(&row.common);
        Ok(())
    }

    /// The reference of a part of the channel.
    pub(crate) fn reference<T: Interface>(&self, part: &str) -> Result<T, zorb::Error> {
        let id = self.object_id(part);
        self.context.poa.create_reference_with_id(id)
    }

    /// The reference of a proxy, with the type that it has.
    pub(crate) fn proxy_reference<T: Interface>(&self, number: u32) -> Result<T, zorb::Error> {
        let id = self.object_id(&format!("p{number}"));
        Ok(self.context.poa.id_to_reference(id)?.unchecked_narrow())
    }

    /// Deactivates what [`activate`](Self::activate) has activated.
    pub(crate) fn deactivate(&self) {
        for part in ["e", "c", "s", "q", "t"] {
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
        use cos::{
            ProxyPullSupplierServant, ProxyPushSupplierServant, SequenceProxyPullSupplierServant,
            SequenceProxyPushSupplierServant, StructuredProxyPullSupplierServant,
            StructuredProxyPushSupplierServant,
        };
        let weak: std::sync::Weak<SupplierProxy> = Arc::downgrade(proxy);
        self.add_proxy(proxy.number, weak)?;
        let it = Supplier(Arc::clone(proxy));
        macro_rules! serve {
            ($($form:ident, $is_push:literal, $servant:path;)*) => {
                match proxy.place() {
                    $(Place { form: Form::$form, is_push: $is_push, .. } => {
                        let id = self.object_id(&format!("p{}", proxy.number));
                        self.context.poa.activate_object_with_id(id, <$servant>::new(it)).map(drop)
                    })*
                    // None is made.
                    Place { form: Form::PlainTyped | Form::Typed, is_push: false, .. } => {
                        return Err(SystemExceptionKind::BadParam.into());
                    }
                }
            };
        }
        serve! {
            Plain, true, plain::ProxyPushSupplierServant<Supplier>;
            Plain, false, plain::ProxyPullSupplierServant<Supplier>;
            Any, true, ProxyPushSupplierServant<Supplier>;
            Any, false, ProxyPullSupplierServant<Supplier>;
            Structured, true, StructuredProxyPushSupplierServant<Supplier>;
            Structured, false, StructuredProxyPullSupplierServant<Supplier>;
            Sequence, true, SequenceProxyPushSupplierServant<Supplier>;
            Sequence, false, SequenceProxyPullSupplierServant<Supplier>;
            PlainTyped, true, plain::ProxyPushSupplierServant<Supplier>;
            Typed, true, typed::TypedProxyPushSupplierServant<Supplier>;
        }?;
        Ok(())
    }

    /// Activates the object of a proxy of suppliers.
    pub(crate) fn activate_consumer(
        self: &Arc<Self>,
        proxy: &Arc<ConsumerProxy>,
    ) -> Result<(), SystemException> {
        use cos::{
            ProxyPullConsumerServant, ProxyPushConsumerServant, SequenceProxyPullConsumerServant,
            SequenceProxyPushConsumerServant, StructuredProxyPullConsumerServant,
            StructuredProxyPushConsumerServant,
        };
        let weak: std::sync::Weak<ConsumerProxy> = Arc::downgrade(proxy);
        self.add_proxy(proxy.number, weak)?;
        let it = Consumer(Arc::clone(proxy));
        macro_rules! serve {
            ($($form:ident, $is_push:literal, $servant:path;)*) => {
                match proxy.place() {
                    $(Place { form: Form::$form, is_push: $is_push, .. } => {
                        let id = self.object_id(&format!("p{}", proxy.number));
                        self.context.poa.activate_object_with_id(id, <$servant>::new(it)).map(drop)
                    })*
                    // None is made.
                    Place { form: Form::PlainTyped | Form::Typed, is_push: false, .. } => {
                        return Err(SystemExceptionKind::BadParam.into());
                    }
                }
            };
        }
        serve! {
            Plain, true, plain::ProxyPushConsumerServant<Consumer>;
            Plain, false, plain::ProxyPullConsumerServant<Consumer>;
            Any, true, ProxyPushConsumerServant<Consumer>;
            Any, false, ProxyPullConsumerServant<Consumer>;
            Structured, true, StructuredProxyPushConsumerServant<Consumer>;
            Structured, false, StructuredProxyPullConsumerServant<Consumer>;
            Sequence, true, SequenceProxyPushConsumerServant<Consumer>;
            Sequence, false, SequenceProxyPullConsumerServant<Consumer>;
            PlainTyped, true, typed_plain::TypedProxyPushConsumerServant<Consumer>;
            Typed, true, typed::TypedProxyPushConsumerServant<Consumer>;
        }?;
        if let Some(interface) = &proxy.interface {
            let typed = TypedConsumer {
                proxy: Arc::clone(proxy),
                interface: Arc::clone(interface),
            };
            let servant = DynamicSkeleton::new(&interface.id, typed);
            let id = self.object_id(&typed_part(proxy.number));
            self.context.poa.activate_object_with_id(id, servant)?;
        }
        Ok(())
    }

    async fn new_admin<T: Interface>(
        self: &Arc<Self>,
        is_consumers: bool,
        op: InterFilterGroupOperator,
    ) -> Result<(Option<T>, i32), SystemException> {
        let is_or = op == InterFilterGroupOperator::OrOp;
        let admin = Admin::new(self, self.new_number(), is_consumers, is_or);
        admin.activate()?;
        if let Err(exception) = Target::store(&*admin).await {
            admin.end();
            return Err(exception);
        }
        Ok((Some(admin.reference()?), admin.id()))
    }

    fn admin_of_id(&self, id: i32, is_consumers: bool) -> Result<Arc<Admin>, AdminNotFound> {
        let number = match (id, is_consumers) {
            (0, true) => Some(0),
            (0, false) => Some(DEFAULT_SUPPLIERS),
            (id, _) => u32::try_from(id).ok(),
        };
        let admin = number.and_then(|number| self.find_admin(number));
        let admin = admin.filter(|admin| admin.is_consumers == is_consumers);
        admin.ok_or(AdminNotFound {})
    }

    fn admin_ids(&self, is_consumers: bool) -> Vec<i32> {
        let admins = self.admins().into_iter();
        let ids = admins.filter(|admin| admin.is_consumers == is_consumers);
        std::iter::once(0)
            .chain(ids.map(|admin| admin.id()))
            .collect()
    }
}

impl Target for ChannelObject {
    fn node(&self) -> &Node {
        &self.0.node
    }

    fn channel(&self) -> &Arc<Channel> {
        &self.0
    }

    fn level(&self) -> Level {
        Level::Channel
    }

    fn above(&self) -> Option<Qos> {
        None
    }

    fn apply(&self) {}

    async fn store(&self) -> Result<(), SystemException> {
        self.0.store_channel().await
    }
}

impl AdminPropertiesAdmin for ChannelObject {
    async fn get_admin(&self) -> Result<Vec<Property>, SystemException> {
        Ok(self.0.admin_properties().properties())
    }

    async fn set_admin(
        &self,
        admin: &[Property],
    ) -> Result<(), admin_properties_admin::SetAdminError> {
        let before = self.0.admin_properties();
        let mut after = before.clone();
        let set = after.set(admin);
        set.map_err(|admin_err| UnsupportedAdmin { admin_err })?;
        self.0.set_admin_properties(after);
        if let Err(exception) = self.0.store_channel().await {
            self.0.set_admin_properties(before);
            return Err(exception.into());
        }
        Ok(())
    }
}

impl plain::EventChannel for ChannelObject {
    async fn for_consumers(&self) -> Result<Option<plain::ConsumerAdminRef>, SystemException> {
        let admin: ConsumerAdminRef = self.0.reference("c")?;
        Ok(Some(admin.into()))
    }

    async fn for_suppliers(&self) -> Result<Option<plain::SupplierAdminRef>, SystemException> {
        let admin: SupplierAdminRef = self.0.reference("s")?;
        Ok(Some(admin.into()))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.0.destroy().await
    }
}

impl typed_plain::TypedEventChannel for ChannelObject {
    async fn for_consumers(
        &self,
    ) -> Result<Option<typed_plain::TypedConsumerAdminRef>, SystemException> {
        let admin: typed::TypedConsumerAdminRef = self.0.reference("c")?;
        Ok(Some(admin.into()))
    }

    async fn for_suppliers(
        &self,
    ) -> Result<Option<typed_plain::TypedSupplierAdminRef>, SystemException> {
        let admin: typed::TypedSupplierAdminRef = self.0.reference("s")?;
        Ok(Some(admin.into()))
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.0.destroy().await
    }
}

/// What a channel of CosNotification and one of CosTypedNotify have in common: all but the interfaces of what they give.
macro_rules! event_channel {
    (
        $specification:ident::$interface:ident, $errors:ident, $factory:ty = $my_factory:ident,
        $consumers:ty = $new_consumers:ident, $suppliers:ty = $new_suppliers:ident
    ) => {
        impl $specification::$interface for ChannelObject {
            async fn my_factory(&self) -> Result<Option<$factory>, SystemException> {
                Ok(Some(self.0.context.$my_factory()?))
            }

            async fn default_consumer_admin(&self) -> Result<Option<$consumers>, SystemException> {
                Ok(Some(self.0.reference("c")?))
            }

            async fn default_supplier_admin(&self) -> Result<Option<$suppliers>, SystemException> {
                Ok(Some(self.0.reference("s")?))
            }

            async fn default_filter_factory(
                &self,
            ) -> Result<Option<FilterFactoryRef>, SystemException> {
                Ok(Some(self.0.reference("q")?))
            }

            async fn $new_consumers(
                &self,
                op: InterFilterGroupOperator,
            ) -> Result<(Option<$consumers>, i32), SystemException> {
                self.0.new_admin(true, op).await
            }

            async fn $new_suppliers(
                &self,
                op: InterFilterGroupOperator,
            ) -> Result<(Option<$suppliers>, i32), SystemException> {
                self.0.new_admin(false, op).await
            }

            async fn get_consumeradmin(
                &self,
                id: i32,
            ) -> Result<Option<$consumers>, $specification::$errors::GetConsumeradminError> {
                Ok(Some(self.0.admin_of_id(id, true)?.reference()?))
            }

            async fn get_supplieradmin(
                &self,
                id: i32,
            ) -> Result<Option<$suppliers>, $specification::$errors::GetSupplieradminError> {
                Ok(Some(self.0.admin_of_id(id, false)?.reference()?))
            }

            async fn get_all_consumeradmins(&self) -> Result<Vec<i32>, SystemException> {
                Ok(self.0.admin_ids(true))
            }

            async fn get_all_supplieradmins(&self) -> Result<Vec<i32>, SystemException> {
                Ok(self.0.admin_ids(false))
            }
        }
    };
}
event_channel!(
    cos::EventChannel,
    event_channel,
    EventChannelFactoryRef = notification_factory,
    ConsumerAdminRef = new_for_consumers,
    SupplierAdminRef = new_for_suppliers
);
event_channel!(
    typed::TypedEventChannel,
    typed_event_channel,
    typed::TypedEventChannelFactoryRef = typed_factory,
    typed::TypedConsumerAdminRef = new_for_typed_notification_consumers,
    typed::TypedSupplierAdminRef = new_for_typed_notification_suppliers
);

impl Target for Admin {
    fn node(&self) -> &Node {
        &self.node
    }

    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn level(&self) -> Level {
        Level::Admin
    }

    fn above(&self) -> Option<Qos> {
        Some(self.channel.node.get().qos.clone())
    }

    fn apply(&self) {
        if !self.is_consumers {
            let types = self.node.get().types.keys();
            self.channel.count(Told::Offers, &self.counted, types);
        }
    }

    async fn store(&self) -> Result<(), SystemException> {
        let row = Row::OfAdmin(stored::Admin {
            is_consumers: self.is_consumers,
            is_or: self.is_or,
            common: self.node.stored(),
        });
        self.channel.store(self.number, &row, None, None).await
    }
}

impl comm::NotifySubscribe for Admin {
    async fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), notify_subscribe::SubscriptionChangeError> {
        self.change_types(added, removed).await
    }
}

impl comm::NotifyPublish for Admin {
    async fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), notify_publish::OfferChangeError> {
        self.change_types(added, removed).await
    }
}

/// What an admin needs of itself to make a proxy: that which the POA has.
fn this(admin: &Admin) -> Result<Arc<Admin>, SystemException> {
    let found = admin.channel.find_admin(admin.number);
    found.ok_or_else(|| SystemExceptionKind::ObjectNotExist.into())
}

impl plain::ConsumerAdmin for Admin {
    async fn obtain_push_supplier(
        &self,
    ) -> Result<Option<plain::ProxyPushSupplierRef>, SystemException> {
        let made = this(self)?.obtain(true, Form::Plain, None).await;
        made.map(|(proxy, _)| proxy).map_err(NotMade::into_system)
    }

    async fn obtain_pull_supplier(
        &self,
    ) -> Result<Option<plain::ProxyPullSupplierRef>, SystemException> {
        let made = this(self)?.obtain(false, Form::Plain, None).await;
        made.map(|(proxy, _)| proxy).map_err(NotMade::into_system)
    }
}

impl plain::SupplierAdmin for Admin {
    async fn obtain_push_consumer(
        &self,
    ) -> Result<Option<plain::ProxyPushConsumerRef>, SystemException> {
        let made = this(self)?.obtain(true, Form::Plain, None).await;
        made.map(|(proxy, _)| proxy).map_err(NotMade::into_system)
    }

    async fn obtain_pull_consumer(
        &self,
    ) -> Result<Option<plain::ProxyPullConsumerRef>, SystemException> {
        let made = this(self)?.obtain(false, Form::Plain, None).await;
        made.map(|(proxy, _)| proxy).map_err(NotMade::into_system)
    }
}

fn operator(admin: &Admin) -> InterFilterGroupOperator {
    match admin.is_or {
        true => InterFilterGroupOperator::OrOp,
        false => InterFilterGroupOperator::AndOp,
    }
}

impl cos::ConsumerAdmin for Admin {
    async fn my_id(&self) -> Result<i32, SystemException> {
        Ok(self.id())
    }

    async fn my_channel(&self) -> Result<Option<EventChannelRef>, SystemException> {
        Ok(Some(self.channel.reference("e")?))
    }

    async fn my_operator(&self) -> Result<InterFilterGroupOperator, SystemException> {
        Ok(operator(self))
    }

    async fn priority_filter(&self) -> Result<Option<MappingFilterRef>, SystemException> {
        mapping_reference(self.node.get().priority())
    }

    async fn set_priority_filter(
        &self,
        value: Option<MappingFilterRef>,
    ) -> Result<(), SystemException> {
        let set = |state: &mut Common, filter| state.priority = filter;
        self.map_by(value, TcKind::Short, set).await
    }

    async fn lifetime_filter(&self) -> Result<Option<MappingFilterRef>, SystemException> {
        mapping_reference(self.node.get().lifetime())
    }

    async fn set_lifetime_filter(
        &self,
        value: Option<MappingFilterRef>,
    ) -> Result<(), SystemException> {
        let set = |state: &mut Common, filter| state.lifetime = filter;
        self.map_by(value, TcKind::ULongLong, set).await
    }

    async fn pull_suppliers(&self) -> Result<Vec<i32>, SystemException> {
        Ok(self.proxy_ids(false))
    }

    async fn push_suppliers(&self) -> Result<Vec<i32>, SystemException> {
        Ok(self.proxy_ids(true))
    }

    async fn get_proxy_supplier(
        &self,
        proxy_id: i32,
    ) -> Result<Option<ProxySupplierRef>, consumer_admin::GetProxySupplierError> {
        Ok(Some(self.find_proxy(proxy_id)??))
    }

    async fn obtain_notification_pull_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplierRef>, i32), consumer_admin::ObtainNotificationPullSupplierError>
    {
        let made = this(self)?.obtain(false, form(ctype), None).await;
        made.map_err(NotMade::into_error)
    }

    async fn obtain_notification_push_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplierRef>, i32), consumer_admin::ObtainNotificationPushSupplierError>
    {
        let made = this(self)?.obtain(true, form(ctype), None).await;
        made.map_err(NotMade::into_error)
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.end();
        Ok(())
    }
}

impl cos::SupplierAdmin for Admin {
    async fn my_id(&self) -> Result<i32, SystemException> {
        Ok(self.id())
    }

    async fn my_channel(&self) -> Result<Option<EventChannelRef>, SystemException> {
        Ok(Some(self.channel.reference("e")?))
    }

    async fn my_operator(&self) -> Result<InterFilterGroupOperator, SystemException> {
        Ok(operator(self))
    }

    async fn pull_consumers(&self) -> Result<Vec<i32>, SystemException> {
        Ok(self.proxy_ids(false))
    }

    async fn push_consumers(&self) -> Result<Vec<i32>, SystemException> {
        Ok(self.proxy_ids(true))
    }

    async fn get_proxy_consumer(
        &self,
        proxy_id: i32,
    ) -> Result<Option<ProxyConsumerRef>, supplier_admin::GetProxyConsumerError> {
        Ok(Some(self.find_proxy(proxy_id)??))
    }

    async fn obtain_notification_pull_consumer(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxyConsumerRef>, i32), supplier_admin::ObtainNotificationPullConsumerError>
    {
        let made = this(self)?.obtain(false, form(ctype), None).await;
        made.map_err(NotMade::into_error)
    }

    async fn obtain_notification_push_consumer(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxyConsumerRef>, i32), supplier_admin::ObtainNotificationPushConsumerError>
    {
        let made = this(self)?.obtain(true, form(ctype), None).await;
        made.map_err(NotMade::into_error)
    }

    async fn destroy(&self) -> Result<(), SystemException> {
        self.end();
        Ok(())
    }
}

impl Admin {
    /// The interface of a new typed proxy.
    fn interface(&self, id: &str) -> Option<Arc<TypedInterface>> {
        self.channel.context.interfaces.find(id)
    }
}

impl typed_plain::TypedConsumerAdmin for Admin {
    /// No `Pull` interface is served: which of its operations belongs to which one that is pushed is nowhere in IDL.
    async fn obtain_typed_pull_supplier(
        &self,
        _supported_interface: &str,
    ) -> Result<
        Option<typed_plain::TypedProxyPullSupplierRef>,
        typed_plain::typed_consumer_admin::ObtainTypedPullSupplierError,
    > {
        Err(InterfaceNotSupported {}.into())
    }

    async fn obtain_typed_push_supplier(
        &self,
        uses_interface: &str,
    ) -> Result<
        Option<plain::ProxyPushSupplierRef>,
        typed_plain::typed_consumer_admin::ObtainTypedPushSupplierError,
    > {
        let interface = self.interface(uses_interface);
        let interface = interface.ok_or(NoSuchImplementation {})?;
        let made = this(self)?;
        let made = made.obtain(true, Form::PlainTyped, Some(interface)).await;
        Ok(made.map_err(NotMade::into_system)?.0)
    }
}

impl typed_plain::TypedSupplierAdmin for Admin {
    async fn obtain_typed_push_consumer(
        &self,
        supported_interface: &str,
    ) -> Result<
        Option<typed_plain::TypedProxyPushConsumerRef>,
        typed_plain::typed_supplier_admin::ObtainTypedPushConsumerError,
    > {
        let interface = self.interface(supported_interface);
        let interface = interface.ok_or(InterfaceNotSupported {})?;
        let made = this(self)?;
        let made = made.obtain(true, Form::PlainTyped, Some(interface)).await;
        Ok(made.map_err(NotMade::into_system)?.0)
    }

    async fn obtain_typed_pull_consumer(
        &self,
        _uses_interface: &str,
    ) -> Result<
        Option<plain::ProxyPullConsumerRef>,
        typed_plain::typed_supplier_admin::ObtainTypedPullConsumerError,
    > {
        Err(NoSuchImplementation {}.into())
    }
}

impl typed::TypedConsumerAdmin for Admin {
    async fn obtain_typed_notification_pull_supplier(
        &self,
        _supported_interface: &str,
    ) -> Result<
        (Option<typed::TypedProxyPullSupplierRef>, i32),
        typed::typed_consumer_admin::ObtainTypedNotificationPullSupplierError,
    > {
        Err(InterfaceNotSupported {}.into())
    }

    async fn obtain_typed_notification_push_supplier(
        &self,
        uses_interface: &str,
    ) -> Result<
        (Option<typed::TypedProxyPushSupplierRef>, i32),
        typed::typed_consumer_admin::ObtainTypedNotificationPushSupplierError,
    > {
        let interface = self.interface(uses_interface);
        let interface = interface.ok_or(NoSuchImplementation {})?;
        let made = this(self)?;
        let made = made.obtain(true, Form::Typed, Some(interface)).await;
        made.map_err(NotMade::into_error)
    }
}

impl typed::TypedSupplierAdmin for Admin {
    async fn obtain_typed_notification_push_consumer(
        &self,
        supported_interface: &str,
    ) -> Result<
        (Option<typed::TypedProxyPushConsumerRef>, i32),
        typed::typed_supplier_admin::ObtainTypedNotificationPushConsumerError,
    > {
        let interface = self.interface(supported_interface);
        let interface = interface.ok_or(InterfaceNotSupported {})?;
        let made = this(self)?;
        let made = made.obtain(true, Form::Typed, Some(interface)).await;
        made.map_err(NotMade::into_error)
    }

    async fn obtain_typed_notification_pull_consumer(
        &self,
        _uses_interface: &str,
    ) -> Result<
        (Option<typed::TypedProxyPullConsumerRef>, i32),
        typed::typed_supplier_admin::ObtainTypedNotificationPullConsumerError,
    > {
        Err(NoSuchImplementation {}.into())
    }
}
