//! The corpora under plain `cargo test`: every file, and a fixed set of mutations of each.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use zorb_fuzz::TARGETS;

/// Mutations made of each file, unless the variable `ZORB_MUTATIONS` has another number. Few enough for a debug build to go
/// through all of them in seconds.
const MUTATIONS: u64 = 16;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The files of a target's corpus, in a fixed order.
fn files(target: &str) -> Vec<PathBuf> {
    let folder = corpus().join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "the corpus of {target} is empty");
    files
}

/// Runs the target on the octets, and prints them when it panics.
fn run(target: fn(&[u8]), octets: &[u8], what: &str) {
    if catch_unwind(|| target(octets)).is_err() {
        let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        panic!("{what} breaks a promise: {hex}");
    }
}

#[test]
fn every_target_has_a_corpus_and_every_corpus_a_target() {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    for name in &names {
        files(name);
    }
    for folder in fs::read_dir(corpus()).unwrap() {
        let folder = folder.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&folder.as_str()), "no target runs {folder}");
    }
}

#[test]
fn every_file_of_every_corpus_keeps_the_promises() {
    for (name, target) in TARGETS {
        for file in files(name) {
            let octets = fs::read(&file).unwrap();
            run(*target, &octets, &file.display().to_string());
        }
    }
}

#[test]
fn mutations_of_every_file_keep_the_promises() {
    let mutations = std::env::var("ZORB_MUTATIONS").map_or(MUTATIONS, |number| {
        number.parse().expect("a number of mutations")
    });
    for (name, target) in TARGETS {
        for (index, file) in files(name).iter().enumerate() {
            let octets = fs::read(file).unwrap();
            for seed in 0..mutations {
                let mutated = mutate(&octets, index as u64 * mutations + seed);
                run(
                    *target,
                    &mutated,
                    &format!("mutation {seed} of {}", file.display()),
                );
            }
        }
    }
}

/// A few changes that the seed decides: octets set, bits turned, pieces cut out or repeated.
fn mutate(octets: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
    let mut mutated = octets.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(mutated.len().max(1));
        match random.below(6) {
            0 if at < mutated.len() => mutated[at] ^= 1 << random.below(8),
            1 if at < mutated.len() => mutated[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => mutated.truncate(at),
            3 => {
                let end = (at + 1 + random.below(8)).min(mutated.len());
                mutated.drain(at.min(end)..end);
            }
            4 => {
                let end = (at + 1 + random.below(32)).min(mutated.len());
                let piece = mutated[at.min(end)..end].to_vec();
                mutated.splice(at..at, piece);
            }
            _ => {
                let end = (at + 4).min(mutated.len());
                mutated[at.min(end)..end].fill(0xff);
            }
        }
    }
    mutated
}

/// A small generator whose sequence is always the same (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        (high as usize) % bound.max(1)
    }
}
