//! Small calls beside long ones: over one connection to the server, and over several.

use crate::ends::{Failure, Remote, by};
use serde_json::json;
use std::time::Instant;
use tokio::task::JoinSet;
use zorb::{Orb, SystemException};

/// Callers that send long messages, one after the other.
const SENDERS: usize = 3;
/// The octets of a long message.
const OCTETS: usize = 4 << 20;
/// Connections to the server, in turns: one for all callers, or one for each.
const CONNECTIONS: [usize; 2] = [1, SENDERS + 1];

/// Times small calls of one caller while others send long messages.
pub(crate) async fn measure(rounds: usize, calls: usize) -> Result<(), Failure> {
    let remote = Remote::start()?;
    let mut medians = [const { Vec::new() }; 2];
    for _ in 0..rounds {
        for (medians, connections) in medians.iter_mut().zip(CONNECTIONS) {
            let times = beside_senders(&remote.reference, connections, calls).await?;
            medians.push(middle(times)?);
        }
    }
    let [one, several] = medians;
    println!(
        "{}",
        json!({ "one_ns": middle(one)?, "several_ns": middle(several)? })
    );
    Ok(())
}

fn middle(mut times: Vec<u64>) -> Result<u64, Failure> {
    times.sort_unstable();
    Ok(*times.get(times.len() / 2).ok_or("at least one call")?)
}

/// Nanoseconds of each small call.
async fn beside_senders(
    reference: &str,
    connections: usize,
    calls: usize,
) -> Result<Vec<u64>, Failure> {
    let orb = Orb::builder()
        .connections_to_endpoint(connections)
        .build()
        .await?;
    let mut sending = JoinSet::new();
    for _ in 0..SENDERS {
        let to = by(&orb, reference).await?;
        sending.spawn(async move {
            let data = vec![0xff; OCTETS];
            loop {
                to.send_octet_seq_2way(&data).await?;
            }
            #[expect(unreachable_code, reason = "the type of the error")]
            Ok::<(), SystemException>(())
        });
    }
    let to = by(&orb, reference).await?;
    let mut times = Vec::with_capacity(calls);
    while times.len() < calls {
        let begun = Instant::now();
        to.send_no_params_2way().await?;
        times.push(u64::try_from(begun.elapsed().as_nanos())?);
        if let Some(ended) = sending.try_join_next() {
            ended??;
        }
    }
    sending.shutdown().await;
    orb.shutdown(false).await?;
    Ok(times)
}
