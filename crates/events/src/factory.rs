//! The factory of channels.

use crate::channel::Channel;
use crate::cos_event_channel_admin::EventChannelRef;
use crate::cos_life_cycle::{
    self, GenericFactory, InvalidCriteria, NVP, generic_factory::CreateObjectError,
};
use crate::cos_notification::{Property, UnsupportedAdmin};
use crate::cos_notify_channel_admin::{self as notify, ChannelNotFound, event_channel_factory};
use crate::cos_typed_notify_channel_admin as typed;
use crate::event_channel_admin;
use crate::ft::PullMonitorable;
use crate::node::unsupported;
use crate::omni_events;
use crate::open_orb::{
    self, EventChannelNotFound, NameAlreadyUsed,
    event_channel_factory::{CreateChannelError, JoinChannelError},
};
use crate::qos::{AdminProperties, Level, Qos};
use crate::service::{Context, NotMade};
use std::sync::Arc;
use zorb::naming::cos_naming::NameComponent;
use zorb::{Interface, ObjectRef, SystemException, SystemExceptionKind};

/// What a factory of omniEvents' kind makes.
const KIND: &str = "EventChannel";
/// The criterion that names a channel.
const NAME: &str = "InsName";
/// Criteria of omniEvents that say how it works inside; they mean nothing here.
const IGNORED: [&str; 4] = [
    "CyclePeriod_ns",
    "PullRetryPeriod_ms",
    "MaxQueueLength",
    "MaxNumProxies",
];

/// The servant of the factory.
pub(crate) struct Factory(pub(crate) Arc<Context>);

impl GenericFactory for Factory {
    async fn supports(&self, k: &[NameComponent]) -> Result<bool, SystemException> {
        Ok(k.first().is_some_and(|first| first.id == KIND))
    }

    async fn create_object(
        &self,
        k: &[NameComponent],
        the_criteria: &[NVP],
    ) -> Result<Option<ObjectRef>, CreateObjectError> {
        if !self.supports(k).await? {
            let search_key = k.to_vec();
            return Err(cos_life_cycle::NoFactory { search_key }.into());
        }
        let mut name = None;
        let mut invalid = Vec::new();
        for criterion in the_criteria {
            match criterion.name.as_str() {
                NAME => match criterion.value.extract::<String>() {
                    Ok(text) => name = Some(text),
                    Err(_) => invalid.push(criterion.clone()),
                },
                name if IGNORED.contains(&name) => {}
                _ => invalid.push(criterion.clone()),
            }
        }
        if !invalid.is_empty() {
            return Err(InvalidCriteria {
                invalid_criteria: invalid,
            }
            .into());
        }
        match self.0.create(name, None).await {
            Ok(channel) => Ok(Some(channel.as_object().clone())),
            Err(NotMade::NameInUse) => Err(InvalidCriteria {
                invalid_criteria: the_criteria.to_vec(),
            }
            .into()),
            Err(NotMade::Failed(exception)) => Err(exception.into()),
        }
    }
}

impl PullMonitorable for Factory {
    async fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

impl event_channel_admin::EventChannelFactory for Factory {}

impl open_orb::EventChannelFactory for Factory {
    async fn create_channel(
        &self,
        channel_name: &str,
    ) -> Result<Option<EventChannelRef>, CreateChannelError> {
        match self.0.create(Some(channel_name.to_owned()), None).await {
            Ok(channel) => Ok(Some(channel.into())),
            Err(NotMade::NameInUse) => Err(NameAlreadyUsed {}.into()),
            Err(NotMade::Failed(exception)) => Err(exception.into()),
        }
    }

    async fn join_channel(
        &self,
        channel_name: &str,
    ) -> Result<Option<EventChannelRef>, JoinChannelError> {
        let channel = self.0.find(channel_name);
        let channel = channel.ok_or(EventChannelNotFound {})?;
        let channel: notify::EventChannelRef =
            channel.reference("e").map_err(SystemException::from)?;
        Ok(Some(channel.into()))
    }
}

impl omni_events::EventChannelFactory for Factory {}

impl Factory {
    /// Makes a channel without a name, of these properties.
    async fn create_with(
        &self,
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<(notify::EventChannelRef, i32), event_channel_factory::CreateChannelError> {
        let ability = self.0.ability();
        let mut qos = Qos::of_service(ability);
        qos.set(Level::Channel, initial_qos, None, ability)
            .map_err(unsupported)?;
        let mut admin = AdminProperties::default();
        admin
            .set(initial_admin)
            .map_err(|admin_err| UnsupportedAdmin { admin_err })?;
        match self.0.create(None, Some((qos, admin))).await {
            Ok(channel) => {
                let id = self.0.channel_id(&channel).unwrap_or_default();
                Ok((channel, id))
            }
            Err(NotMade::NameInUse) => {
                Err(SystemException::from(SystemExceptionKind::Internal).into())
            }
            Err(NotMade::Failed(exception)) => Err(exception.into()),
        }
    }

    fn channel(&self, id: i32) -> Result<Arc<Channel>, ChannelNotFound> {
        let channel = u32::try_from(id)
            .ok()
            .and_then(|id| self.0.find_channel(id));
        channel.ok_or(ChannelNotFound {})
    }
}

/// Every channel has both interfaces: it is the same one.
impl typed::TypedEventChannelFactory for Factory {
    async fn create_typed_channel(
        &self,
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<
        (Option<typed::TypedEventChannelRef>, i32),
        typed::typed_event_channel_factory::CreateTypedChannelError,
    > {
        use event_channel_factory::CreateChannelError as Error;
        let made = self.create_with(initial_qos, initial_admin).await;
        let (_, id) = made.map_err(|error| match error {
            Error::UnsupportedQoS(error) => error.into(),
            Error::UnsupportedAdmin(error) => error.into(),
            Error::System(exception) => {
                typed::typed_event_channel_factory::CreateTypedChannelError::from(exception)
            }
        })?;
        let channel = self.channel(id).ok();
        let channel = channel.ok_or(SystemExceptionKind::ObjectNotExist)?;
        Ok((
            Some(channel.reference("t").map_err(SystemException::from)?),
            id,
        ))
    }

    async fn get_all_typed_channels(&self) -> Result<Vec<i32>, SystemException> {
        notify::EventChannelFactory::get_all_channels(self).await
    }

    async fn get_typed_event_channel(
        &self,
        id: i32,
    ) -> Result<
        Option<typed::TypedEventChannelRef>,
        typed::typed_event_channel_factory::GetTypedEventChannelError,
    > {
        let channel = self.channel(id)?;
        Ok(Some(channel.reference("t").map_err(SystemException::from)?))
    }
}

impl notify::EventChannelFactory for Factory {
    async fn create_channel(
        &self,
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<(Option<notify::EventChannelRef>, i32), event_channel_factory::CreateChannelError>
    {
        let (channel, id) = self.create_with(initial_qos, initial_admin).await?;
        Ok((Some(channel), id))
    }

    async fn get_all_channels(&self) -> Result<Vec<i32>, SystemException> {
        let all = self.0.all().into_iter();
        Ok(all
            .filter_map(|channel| i32::try_from(channel.id).ok())
            .collect())
    }

    async fn get_event_channel(
        &self,
        id: i32,
    ) -> Result<Option<notify::EventChannelRef>, event_channel_factory::GetEventChannelError> {
        let channel = self.channel(id)?;
        Ok(Some(channel.reference("e").map_err(SystemException::from)?))
    }
}
