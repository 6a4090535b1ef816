//! The agent: which objects have a way beside CORBA, and to whom it leads.
//!
//! Servers say so again and again, so a way is forgotten when its server is: nothing has to be asked whether it lives. The agent does not
//! decide alone. A client says at the endpoint which run of the server it means, and calls by CORBA if that is over.

use crate::idl::as_needed::agent::{FindError, RegisterError};
use crate::{Agent, Bypass, Full, NotAlike, Unknown};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use zorb::{ObjectRef, SystemException};

/// How long a way is kept unless its server registers it again.
pub const LEASE: Duration = Duration::from_secs(10);
/// The most ways that an agent keeps.
pub const MAX_WAYS: usize = 10_000;
/// The most octets of an endpoint and of a platform.
const MAX_TEXT: usize = 256;

/// The agent's servant.
#[derive(Debug, Default)]
pub struct LocationAgent {
    ways: Mutex<HashMap<ObjectRef, (Bypass, Instant)>>,
}

impl LocationAgent {
    fn ways(&self) -> MutexGuard<'_, HashMap<ObjectRef, (Bypass, Instant)>> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent for LocationAgent {
    async fn register(
        &self,
        server: Option<ObjectRef>,
        way: &Bypass,
    ) -> Result<u32, RegisterError> {
        let server = server.ok_or_else(|| SystemException::bad_param("a nil reference"))?;
        if way.endpoint.len() > MAX_TEXT || way.platform.len() > MAX_TEXT {
            return Err(SystemException::bad_param("a text that is too long").into());
        }
        let now = Instant::now();
        let mut ways = self.ways();
        if ways.len() >= MAX_WAYS && !ways.contains_key(&server) {
            ways.retain(|_, (_, until)| *until > now);
            if ways.len() >= MAX_WAYS {
                return Err(Full {}.into());
            }
        }
        ways.insert(server, (way.clone(), now + LEASE));
        Ok(u32::try_from(LEASE.as_millis()).unwrap_or(u32::MAX))
    }

    async fn withdraw(&self, server: Option<ObjectRef>, run: u64) -> Result<(), SystemException> {
        if let Some(server) = server {
            let mut ways = self.ways();
            if ways.get(&server).is_some_and(|(way, _)| way.run == run) {
                ways.remove(&server);
            }
        }
        Ok(())
    }

    async fn find(&self, server: Option<ObjectRef>, platform: &str) -> Result<Bypass, FindError> {
        let ways = self.ways();
        let way = server.and_then(|server| ways.get(&server));
        match way {
            Some((way, until)) if *until > Instant::now() => match way.platform == platform {
                true => Ok(way.clone()),
                false => Err(NotAlike {
                    platform: way.platform.clone(),
                }
                .into()),
            },
            _ => Err(Unknown {}.into()),
        }
    }
}
