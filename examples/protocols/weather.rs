//! An application: a station that is asked for its weather. Nothing in here knows how the octets get there.

use core::time::Duration;
use std::time::Instant;
use zorb::{Builder, Bytes, OctetsRef, SystemException};

zorb::idl! {
    module Weather {
        typedef sequence<octet> Image;
        interface Station {
            string forecast(in string place);
            /// The picture of the satellite, turned upside down.
            Image flip(in Image seen);
        };
    };
}

use weather::{Station, StationRef, StationServant};

/// Calls of each kind.
const CALLS: usize = 200;
const IMAGE_OCTETS: usize = 64 * 1024;

struct Hill;

impl Station for Hill {
    async fn forecast(&self, place: &str) -> Result<String, SystemException> {
        Ok(format!("rain in {place}"))
    }

    async fn flip(&self, seen: OctetsRef<'_>) -> Result<Bytes, SystemException> {
        Ok(seen.iter().rev().copied().collect::<Vec<u8>>().into())
    }
}

/// Starts a station with `options` of its ORB and asks it from another ORB; both are made by `builder`.
pub(crate) async fn observe(
    builder: impl Fn() -> Builder,
    options: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut options = options.split_whitespace().map(str::to_owned).collect();
    let server = builder().args(&mut options).build().await?;
    let poa = server.root_poa();
    let station = poa.activate(StationServant::new(Hill))?;
    poa.the_poa_manager().activate()?;

    let client = builder().build().await?;
    let reference = server.object_to_string(&station);
    let object = client.string_to_object(&reference).await?;
    let station: StationRef = object.narrow().await?.ok_or("no Station")?;

    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begin = Instant::now();
        assert_eq!(station.forecast("Bath").await?, "rain in Bath");
        times.push(begin.elapsed());
    }
    let small = median(&mut times);

    let seen: Vec<u8> = (0..IMAGE_OCTETS).map(|n| (n % 251) as u8).collect();
    let flipped: Vec<u8> = seen.iter().rev().copied().collect();
    times.clear();
    for _ in 0..CALLS / 10 {
        let begin = Instant::now();
        assert_eq!(station.flip(&seen).await?, flipped);
        times.push(begin.elapsed());
    }
    let large = median(&mut times);

    let endpoint = server.endpoints().first().map(ToString::to_string);
    client.shutdown(true).await?;
    server.shutdown(true).await?;
    let endpoint = endpoint.ok_or("the server listens nowhere")?;
    Ok(format!(
        "{endpoint}, a small call {small:.1?}, {} KiB there and back {large:.1?}",
        IMAGE_OCTETS / 1_024
    ))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
