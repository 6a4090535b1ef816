//! One-way calls in a row, as fast as they go.

use crate::ends::{CLIENTS, Failure, Remote, by};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use zorb::Orb;

/// The time after which a flood counts as hanging: fifty times what a million calls take on two CPUs.
const LIMIT: Duration = Duration::from_secs(600);

/// Sends `calls` in all, each with its number, and asks the server what has come.
pub(crate) async fn send(calls: u32, octets: usize, clients: u32) -> Result<(), Failure> {
    if clients == 0 || clients as usize > CLIENTS {
        return Err(format!("1 to {CLIENTS} clients").into());
    }
    let remote = Remote::start()?;
    let each = calls / clients;
    let begun = Instant::now();
    let mut sending = JoinSet::new();
    for client in 0..clients {
        let orb = Orb::builder().build().await?;
        let to = by(&orb, &remote.reference).await?;
        sending.spawn(async move {
            let mut data = vec![0x5a; octets.max(12)];
            data[..4].copy_from_slice(&client.to_be_bytes());
            for number in 0..u64::from(each) {
                data[4..12].copy_from_slice(&number.to_be_bytes());
                to.send_octet_seq_1way(&data).await?;
            }
            to.sync().await?;
            drop(orb);
            Ok::<_, zorb::SystemException>(())
        });
    }
    let all = async {
        while let Some(sent) = sending.join_next().await {
            sent??;
        }
        Ok::<_, Failure>(())
    };
    let in_time = tokio::time::timeout(LIMIT, all).await;
    in_time.map_err(|_| format!("calls hang: not all were sent in {} s", LIMIT.as_secs()))??;
    let took = begun.elapsed();
    let orb = Orb::builder().build().await?;
    let count = by(&orb, &remote.reference)
        .await?
        .echo_string("count")
        .await?;
    let (got, astray) = count.split_once(' ').ok_or("two numbers")?;
    let result = json!({
        "lost": u64::from(each * clients) - got.parse::<u64>()?,
        "astray": astray.parse::<u64>()?,
        "seconds": took.as_secs_f64(),
    });
    println!("{result}");
    Ok(())
}
