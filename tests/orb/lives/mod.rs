//! The lifetime of ORBs beside that of the programs around them: threads and runtimes, restarts, shutdowns.
//!
//! - [`dropped`]: ORBs that are dropped without a shutdown;
//! - [`limited`]: shutdowns with a time limit;
//! - [`reconnect`]: servers that come back, in order or not;
//! - [`shutdown`]: once, twice, from everywhere, during calls;
//! - [`threads`]: calls from servants, servants that block, several ORBs and runtimes;
//! - [`stress`]: all of these at once, with every call counted.

/// Runs tests on both flavours of runtime.
macro_rules! on_both_flavours {
    ($($test:ident),* $(,)?) => {
        mod on_one_thread {
            $(#[tokio::test(flavor = "current_thread")]
            async fn $test() {
                super::$test().await;
            })*
        }
        mod on_many_threads {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test().await;
            })*
        }
    };
}

mod cell_servant;
mod dropped;
mod limited;
mod reconnect;
mod shutdown;
mod stress;
mod threads;
