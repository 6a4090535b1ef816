//! Connections that have been used once and do nothing any more.

use crate::client::by_hand::Caller;
use crate::client::options::Options;
use crate::flavor::Failure;
use std::io::{Read, Write};
use zorb_cdr::LittleEndian;

/// Makes `options.size` connections with a call on each, prints `ready`, and keeps them until its input ends.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut crowd = Vec::with_capacity(options.size);
    for _ in 0..options.size {
        let mut caller = Caller::new(options)?;
        caller.call::<LittleEndian>("sendNoParams_2way", |_| Ok(()))?;
        crowd.push(caller);
    }
    println!("ready");
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
