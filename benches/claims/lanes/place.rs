//! Where both ends run: on a CPU each, or on the same one.

use crate::Failure;
use crate::world::lane;
use zorb::executor::Lane;

/// The place of all threads of one end.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) cpus: Vec<usize>,
    /// Threads that its thread starts have its CPUs.
    start: Lane,
}

impl Host {
    /// A place on these CPUs.
    pub(crate) fn here(cpus: &[usize]) -> Result<Self, Failure> {
        Ok(Self {
            cpus: cpus.to_vec(),
            start: lane("host", cpus, None)?,
        })
    }

    /// Runs what starts threads and opens sockets.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        start: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<T, Failure> {
        self.start.spawn(start).await?
    }
}

/// Both ends.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) client: Host,
    pub(crate) server: Host,
}

/// The places that there are here.
#[derive(Debug)]
pub(crate) struct Places {
    /// Both ends on one CPU.
    pub(crate) same: Place,
    /// A CPU for each end.
    pub(crate) split: Option<Place>,
}

impl Places {
    pub(crate) fn of(cpus: &[usize]) -> Result<Self, Failure> {
        let [first, others @ ..] = cpus else {
            return Err("no CPU".into());
        };
        let same = Host::here(&[*first])?;
        let same = Place {
            client: same.clone(),
            server: same,
        };
        let Some(second) = others.first() else {
            return Ok(Self { same, split: None });
        };
        let split = Place {
            client: Host::here(&[*second])?,
            server: Host::here(&[*first])?,
        };
        Ok(Self {
            same,
            split: Some(split),
        })
    }
}
