//! The proxies of a channel that a bridge is connected to.

use crate::Channel;
use std::path::PathBuf;
use std::time::Duration;
use zorb::{Error, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_events::cos_event_channel_admin::EventChannelRef;

/// How long a channel may take to answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

impl Channel {
    fn file(&self, role: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{role}.ior")))
    }

    /// The proxy of an earlier run; `None` if there was none, or it is gone.
    pub(crate) async fn kept<R: Interface>(
        &self,
        orb: &Orb,
        role: &str,
    ) -> Result<Option<R>, SystemException> {
        let text = self
            .file(role)
            .and_then(|file| std::fs::read_to_string(file).ok());
        let Some(text) = text else {
            return Ok(None);
        };
        let Ok(object) = orb.string_to_object(text.trim()).await else {
            return Ok(None);
        };
        let object = object.with_round_trip_timeout(ANSWER_WITHIN);
        Ok((!is_gone(&object).await?).then(|| object.unchecked_narrow()))
    }

    /// Notes a proxy for the next run, before it is connected.
    pub(crate) fn keep(&self, orb: &Orb, role: &str, proxy: &impl Interface) {
        let Some(file) = self.file(role) else { return };
        let text = format!("{}\n", orb.object_to_string(proxy));
        if let Err(error) = zorb_service::write_whole(&file, &text) {
            tracing::error!("{error}");
        }
    }

    pub(crate) async fn channel(&self, orb: &Orb) -> Result<EventChannelRef, SystemException> {
        let object = orb.string_to_object(&self.url).await.map_err(system)?;
        let channel: EventChannelRef = object.unchecked_narrow();
        Ok(channel.with_round_trip_timeout(ANSWER_WITHIN))
    }
}

fn system(error: Error) -> SystemException {
    match error {
        Error::System(exception) => exception,
        error => SystemException::from(SystemExceptionKind::Transient)
            .with_detail(format_args!("{error:#}")),
    }
}

/// Whether an object is gone for good.
pub(crate) async fn is_gone(object: &impl Interface) -> Result<bool, SystemException> {
    match object.as_object().non_existent().await {
        Err(exception) if exception.kind == SystemExceptionKind::ObjectNotExist => Ok(true),
        // It answers.
        Err(exception) if exception.kind == SystemExceptionKind::BadOperation => Ok(false),
        answer => answer,
    }
}

/// The exception for a channel that gives no reference.
pub(crate) fn nil() -> SystemException {
    SystemException::from(SystemExceptionKind::InvObjref)
}
