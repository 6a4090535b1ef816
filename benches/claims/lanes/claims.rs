//! The claims about lanes, each measured by one function.

use crate::Failure;
use crate::place::{Place, Places};
use crate::world::{BEST_EFFORT, Calls, Client, HIGH, LOW, Load, MEDIUM, Server, run};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use zorb::Interface;
use zorb::SystemExceptionKind;
use zorb::policy::PolicyOverrides;
use zorb_floor::counting;

/// Numbers by their names.
pub(crate) type Numbers = BTreeMap<String, f64>;

/// All of them, or those whose names contain one of the words.
pub(crate) async fn all(
    words: &[String],
    time: Duration,
    places: &Places,
) -> Result<Numbers, Failure> {
    let mut numbers = Numbers::new();
    let (same, split) = (&places.same, places.split.as_ref());
    let apart = split.unwrap_or(same);
    let asked =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    if asked("deadlines") {
        deadlines(&mut numbers, time, same).await?;
    }
    if asked("tail") {
        tail(&mut numbers, "same", same).await?;
        if let Some(split) = split {
            tail(&mut numbers, "split", split).await?;
        }
    }
    if asked("fairness") {
        fairness(&mut numbers, apart).await?;
    }
    if asked("allocations") {
        allocations(&mut numbers, same).await?;
    }
    if asked("overload") {
        overload(&mut numbers, apart).await?;
    }
    Ok(numbers)
}

/// Overload of the lower lanes beside a high-priority client at 75 Hz, and a capacity that is measured before it.
async fn deadlines(numbers: &mut Numbers, time: Duration, place: &Place) -> Result<(), Failure> {
    const RATES: [f64; 3] = [75.0, 50.0, 25.0];
    // A third more than what the dissertation's CPU could do.
    const WORK: u32 = 42;
    let server = Server::lanes(&place.server, &[BEST_EFFORT, LOW, MEDIUM, HIGH]).await?;
    let mut clients = Vec::new();
    for priority in [HIGH, MEDIUM, LOW, BEST_EFFORT, BEST_EFFORT] {
        clients.push(Client::start(place, Some(priority), &server).await?);
    }
    let alone = [(&clients[0], Load::continuous(WORK))];
    let seconds = Duration::from_secs(3);
    let capacity = run(&alone, seconds).await?[0].made as f64 / seconds.as_secs_f64();
    numbers.insert("deadlines/capacity".to_owned(), capacity);
    let demand: f64 = RATES.iter().sum();
    numbers.insert("deadlines/demand".to_owned(), demand / capacity);
    let load = |n: usize| match RATES.get(n) {
        Some(rate) => Load::rated(*rate, WORK),
        None => Load::continuous(WORK),
    };
    let loads: Vec<_> = clients
        .iter()
        .enumerate()
        .map(|(n, client)| (client, load(n)))
        .collect();
    let calls = run(&loads, time).await?;
    for (name, calls) in ["high", "medium", "low"].iter().zip(&calls) {
        numbers.insert(format!("deadlines/{name}/missed"), calls.missed as f64);
        numbers.insert(format!("deadlines/{name}/met"), calls.met());
        numbers.insert(format!("deadlines/{name}/failed"), calls.failed as f64);
    }
    let effort: u64 = calls.iter().skip(RATES.len()).map(|calls| calls.made).sum();
    let rate = effort as f64 / time.as_secs_f64();
    numbers.insert("deadlines/best-effort/rate".to_owned(), rate);
    // Best-effort clients are to have lost all that they would have, before the low lane loses something.
    let met: Vec<f64> = calls.iter().take(RATES.len()).map(Calls::met).collect();
    let is_in_order = met.is_sorted_by(|a, b| a >= b) && rate / capacity <= 0.01;
    numbers.insert(
        "deadlines/order".to_owned(),
        f64::from(u8::from(is_in_order)),
    );
    for client in clients {
        client.end().await?;
    }
    server.end().await
}

/// The 99th percentile of a high-priority client's calls, without and with eight low-priority clients that never pause.
async fn tail(numbers: &mut Numbers, at: &str, place: &Place) -> Result<(), Failure> {
    let server = Server::lanes(&place.server, &[LOW, HIGH]).await?;
    let client = Client::start(place, Some(HIGH), &server).await?;
    let mut crowd = Vec::new();
    for _ in 0..8 {
        crowd.push(Client::start(place, Some(LOW), &server).await?);
    }
    let measured = Load {
        rate: Some(500.0),
        microseconds: 50,
    };
    let saturating = Load {
        rate: None,
        microseconds: 200,
    };
    let time = Duration::from_secs(4);
    let alone = run(&[(&client, measured)], time).await?;
    let mut loads = vec![(&client, measured)];
    loads.extend(crowd.iter().map(|client| (client, saturating)));
    let beside = run(&loads, time).await?;
    let [alone, beside] = [alone, beside].map(|calls| calls[0].percentile(99));
    numbers.insert(format!("tail/{at}/alone"), alone);
    numbers.insert(format!("tail/{at}/beside"), beside);
    numbers.insert(format!("tail/{at}/ratio"), beside / alone);
    for client in crowd.into_iter().chain([client]) {
        client.end().await?;
    }
    server.end().await
}

/// Eight clients of a pool of two threads.
async fn fairness(numbers: &mut Numbers, place: &Place) -> Result<(), Failure> {
    let server = Server::without_lanes(&place.server, None, 2).await?;
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(Client::start(place, None, &server).await?);
    }
    let load = Load {
        rate: None,
        microseconds: 100,
    };
    let loads: Vec<_> = clients.iter().map(|client| (client, load)).collect();
    let calls = run(&loads, Duration::from_secs(4)).await?;
    let made = calls.iter().map(|calls| calls.made);
    let (slowest, fastest) = (made.clone().min(), made.max());
    let ratio = slowest.unwrap_or(0) as f64 / fastest.unwrap_or(1).max(1) as f64;
    numbers.insert("fairness/ratio".to_owned(), ratio);
    for client in clients {
        client.end().await?;
    }
    server.end().await
}

/// Allocations of both ends in ten thousand calls, after as many that do not count.
async fn allocations(numbers: &mut Numbers, place: &Place) -> Result<(), Failure> {
    const CALLS: usize = 10_000;
    counting::start();
    let server = Server::lanes(&place.server, &[LOW, HIGH]).await?;
    let client = Client::start(place, Some(HIGH), &server).await?;
    let worker = client.worker.clone();
    let counted = client.run(async move {
        let mut before = None;
        for call in 0..2 * CALLS {
            if call == CALLS {
                before = counting::so_far();
            }
            worker.noparams().await?;
        }
        Ok::<_, zorb::SystemException>(counting::between(before, counting::so_far()))
    });
    let (all, _) = counted.await??.unwrap_or_default();
    numbers.insert("allocations/lane".to_owned(), all as f64);
    client.end().await?;
    server.end().await
}

/// Deadlines that are met when half as many requests again come as a thread can serve: first come, first served, and
/// the earliest deadline first with late requests refused.
async fn overload(numbers: &mut Numbers, place: &Place) -> Result<(), Failure> {
    const WORK: u32 = 1_000;
    const CALLS: u64 = 6_000;
    for (name, with_deadlines) in [("first-come", false), ("earliest-deadline", true)] {
        let server = Server::without_lanes(&place.server, None, 1).await?;
        let client = Client::start(place, None, &server).await?;
        let mut random = fastrand::Rng::with_seed(21);
        let begin = Instant::now();
        let mut tasks = Vec::new();
        let mut at = Duration::ZERO;
        for _ in 0..CALLS {
            // Arrivals at 1.5 calls for each that the thread can serve.
            at += Duration::from_micros(u64::from(WORK)).mul_f64(-(1.0 - random.f64()).ln() / 1.5);
            let deadline = Duration::from_micros(random.u64(5_000..50_000));
            let worker = match with_deadlines {
                true => (client.worker)
                    .with_policies(&PolicyOverrides::new().relative_deadline(deadline)),
                false => client.worker.clone(),
            };
            tokio::time::sleep_until((begin + at).into()).await;
            tasks.push(tokio::spawn(async move {
                let called = Instant::now();
                let done = worker.work(WORK).await;
                let shed = matches!(&done, Err(e) if e.kind == SystemExceptionKind::Timeout);
                (done.is_ok() && called.elapsed() <= deadline, shed)
            }));
        }
        let offered = begin.elapsed();
        let (mut met, mut shed) = (0_u64, 0_u64);
        for task in tasks {
            let (is_met, is_shed) = task.await?;
            met += u64::from(is_met);
            shed += u64::from(is_shed);
        }
        numbers.insert(
            format!("overload/{name}/met"),
            100.0 * met as f64 / CALLS as f64,
        );
        numbers.insert(
            format!("overload/{name}/shed"),
            100.0 * shed as f64 / CALLS as f64,
        );
        let rate = CALLS as f64 * f64::from(WORK) / 1e6 / offered.as_secs_f64();
        numbers.insert(format!("overload/{name}/demand"), rate);
        client.end().await?;
        server.end().await?;
    }
    Ok(())
}
