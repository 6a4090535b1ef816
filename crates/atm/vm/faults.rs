//! Faults that tests inject into the virtual machine's module `atmpair`.

use std::fs;
use std::path::Path;

/// Whether this kernel has the joined interfaces. If not, says that `what` is skipped; `ZORB_ATM=require` makes that a
/// failure.
pub(crate) fn have_atm(what: &str) -> bool {
    let is_there = Path::new(PARAMETERS).is_dir();
    let is_required = std::env::var_os("ZORB_ATM").is_some_and(|asked| asked == "require");
    assert!(is_there || !is_required, "{what}: no {PARAMETERS}");
    if !is_there {
        eprintln!(
            "{what}: SKIPPED, this kernel has no joined ATM interfaces; `cargo xtask test atm` has"
        );
    }
    is_there
}

const PARAMETERS: &str = "/sys/module/atmpair/parameters";

/// A parameter of the module that is not 0, until this is dropped.
#[must_use]
pub(crate) struct Fault(&'static str);

impl Fault {
    pub(crate) fn set(name: &'static str, value: u32) -> Self {
        Self::once(name, value);
        Self(name)
    }

    pub(crate) fn once(name: &'static str, value: u32) {
        fs::write(format!("{PARAMETERS}/{name}"), value.to_string()).unwrap();
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        Self::once(self.0, 0);
    }
}

/// A count that the module keeps since it was loaded: of frames `lost`, or `doubled`, by the faults.
pub(crate) fn count(name: &str) -> u64 {
    let count = fs::read_to_string(format!("{PARAMETERS}/{name}")).unwrap();
    count.trim().parse().unwrap()
}

/// Frames that found no room in a receive buffer, at all interfaces.
pub(crate) fn dropped() -> u64 {
    let devices = fs::read_to_string("/proc/net/atm/devices").unwrap();
    let counts = devices.lines().filter_map(|line| {
        // As in `5 ( 15840 0 1803 0 0 )`: sent, errors, received, errors, dropped.
        let aal5 = line.split_once(" 5 (")?.1.split_once(')')?.0;
        aal5.split_whitespace().last()?.parse::<u64>().ok()
    });
    counts.sum()
}
