//! The transport of `examples/pipe` does what every transport has to.

#[path = "../../examples/pipe/transport.rs"]
pub(crate) mod transport;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use transport::Pipe;
use zorb::transport::{Endpoint, Transport};
use zorb_transport::conformance::Fixture;

struct OverPipes {
    transport: Arc<dyn Transport>,
    made: AtomicUsize,
    turns: usize,
}

fn over(properties: &[(&str, &str)]) -> OverPipes {
    let mut transport: Arc<dyn Transport> = Arc::new(Pipe::default());
    for (name, value) in properties {
        transport = transport.with_property(name, value).unwrap();
    }
    let made = AtomicUsize::new(0);
    let turns = if properties.is_empty() { 5_000 } else { 500 };
    OverPipes {
        transport,
        made,
        turns,
    }
}

impl OverPipes {
    fn named(&self, name: &str) -> Endpoint {
        self.transport.addressing().parse(name).unwrap()
    }
}

impl Fixture for OverPipes {
    fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport)
    }

    fn endpoint(&self) -> Endpoint {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        self.named(&format!("pipe-{number}"))
    }

    fn turns(&self) -> usize {
        self.turns
    }

    fn unreachable(&self) -> (Endpoint, ErrorKind) {
        (self.named("absent"), ErrorKind::ConnectionRefused)
    }
}

mod plain {
    use super::*;

    zorb_transport::conformance_tests!(over(&[]));
}

/// Octets arrive later than they are written.
mod delayed {
    use super::*;

    zorb_transport::conformance_tests!(over(&[("delay", "1")]));
}

/// One frame in some is sent again, and those behind it wait for it.
mod lossy {
    use super::*;

    zorb_transport::conformance_tests!(over(&[("loss", "50")]));
}
