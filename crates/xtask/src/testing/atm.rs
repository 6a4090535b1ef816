//! Tests that need the virtual machine whose kernel has ATM.

use crate::testing::executables::{self, Executable, Setting};
use crate::testing::summary::Summary;
use xtask::machine;
use xtask::step::Done;

/// Runs executables, first here, where what they say without ATM is tested, then in the machine if it is ready.
///
/// # Errors
/// Returns the errors of [`executables::run`].
pub(crate) fn run_all(
    executables: &[&Executable],
    setting: &Setting,
    machine: &Done,
) -> Result<Summary, String> {
    let mut summary = executables::run(executables, setting)?;
    if let Err(why) = machine {
        println!(
            "    !!!! SKIPPED: the tests of ATM in a virtual machine, as there is none: {why}"
        );
        return Ok(summary);
    }
    let mut inside = Setting {
        args: setting.args.clone(),
        variables: setting.variables.clone(),
        runner: Some(machine::recipe()),
    };
    // Frames that the interfaces are set to lose are lost to every test.
    inside.args.push("--test-threads=1".to_owned());
    inside.variables.push(("ZORB_ATM", "require".into()));
    // The emulator runs each of them by a thread, which takes the time that the other machine leaves.
    inside.variables.push(("ATM_VM_CPUS", "2".into()));
    (inside.variables).extend(machine::variables("ZORB_ATM ZORB_PEERS"));
    summary.add(&executables::run(executables, &inside)?);
    Ok(summary)
}
