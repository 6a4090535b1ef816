//! The CPU that a program runs on.

use std::fmt;
use std::fs;

/// The placement of the two programs of a comparison.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Placement {
    /// Both on one CPU.
    Same,
    /// One CPU each.
    Split,
    /// The same, but a CPU that has nothing to do does not [sleep](crate::measure::awake).
    Awake,
    /// The CPUs that the kernel chooses.
    Free,
}

/// One of the two programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::Split => "split",
            Self::Awake => "awake",
            Self::Free => "free",
        })
    }
}

/// The two CPUs that programs are pinned to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cpus {
    client: usize,
    server: usize,
}

impl Cpus {
    /// The first CPU that this process may use, and another one: of another core if there is one.
    ///
    /// # Errors
    /// There is only one, or the kernel does not say.
    pub(crate) fn pick() -> Result<Self, String> {
        let status = fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
        let allowed = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
            .and_then(list)
            .ok_or("the kernel does not say which CPUs there are")?;
        let client = *allowed.first().ok_or("no CPU")?;
        let siblings = format!("/sys/devices/system/cpu/cpu{client}/topology/thread_siblings_list");
        let siblings = fs::read_to_string(siblings).ok();
        let siblings = siblings.and_then(|s| list(&s)).unwrap_or_default();
        Self::from(&allowed, &siblings)
    }

    fn from(allowed: &[usize], siblings: &[usize]) -> Result<Self, String> {
        let client = *allowed.first().ok_or("no CPU")?;
        let mut others = allowed.iter().filter(|cpu| **cpu != client);
        let apart = others.clone().find(|cpu| !siblings.contains(cpu));
        let server = *apart
            .or_else(|| others.next())
            .ok_or("two CPUs are needed to compare")?;
        Ok(Self { client, server })
    }

    /// The CPUs of this side in the placement; any CPU if there are none.
    pub(crate) const fn cpu(self, placement: Placement, side: Side) -> Option<usize> {
        match (placement, side) {
            (Placement::Free, _) => None,
            (Placement::Split | Placement::Awake, Side::Server) => Some(self.server),
            (Placement::Split | Placement::Awake, Side::Client) | (Placement::Same, _) => {
                Some(self.client)
            }
        }
    }

    /// The words in front of a command line that run it where the placement has this side.
    pub(crate) fn words(self, placement: Placement, side: Side) -> Vec<String> {
        let cpu = self.cpu(placement, side);
        let words = |cpu: usize| vec!["taskset".to_owned(), "-c".to_owned(), cpu.to_string()];
        cpu.map(words).unwrap_or_default()
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, server } = self;
        write!(
            f,
            "same: CPU {client}; split and awake: client {client}, server {server}"
        )
    }
}

/// The kernel's form of a set of CPUs: `0-2,5`.
fn list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!(list("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(list("\t3"), Some(vec![3]));
        assert_eq!(list(""), None);
        assert_eq!(list("a-b"), None);
    }

    #[test]
    fn the_two_cpus_are_of_two_cores_where_that_can_be() {
        let cpus = Cpus::from(&[0, 1, 2, 3], &[0, 1]).unwrap();
        assert_eq!(
            cpus,
            Cpus {
                client: 0,
                server: 2
            }
        );
        let cpus = Cpus::from(&[4, 5], &[4, 5]).unwrap();
        assert_eq!(
            cpus,
            Cpus {
                client: 4,
                server: 5
            }
        );
        assert!(Cpus::from(&[0], &[0]).is_err());
    }

    #[test]
    fn programs_are_pinned_by_taskset() {
        let cpus = Cpus {
            client: 0,
            server: 2,
        };
        let words = |placement, side| cpus.words(placement, side).join(" ");
        assert_eq!(words(Placement::Same, Side::Server), "taskset -c 0");
        assert_eq!(words(Placement::Split, Side::Server), "taskset -c 2");
        assert_eq!(words(Placement::Awake, Side::Server), "taskset -c 2");
        assert_eq!(words(Placement::Split, Side::Client), "taskset -c 0");
        assert_eq!(words(Placement::Free, Side::Client), "");
    }
}
