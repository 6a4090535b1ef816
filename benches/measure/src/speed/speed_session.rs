//! Measurements that the claims of one run share.

use crate::compare::{Cell, CompareOptions, Results, measure_cells};
use crate::measure::instructions::{self, Instructions};
use crate::measure::peer::Peer;
use crate::measure::programs::Abilities;
use crate::measure::run::Work;
use crate::measure::system_calls::{self, SystemCalls};
use crate::measure::tools;
use crate::speed::alone;
use crate::speed::claim::{Claim, How};
use crate::speed::crowd::{self, Crowd};
use std::collections::HashMap;

/// The key of a kept answer.
type Key = String;

pub(crate) struct SpeedSession {
    options: CompareOptions,
    abilities: Abilities,
    results: Option<Results>,
    instructions: HashMap<Key, Result<Instructions, String>>,
    system_calls: HashMap<Key, Result<SystemCalls, String>>,
    alone: Option<Result<HashMap<String, f64>, String>>,
    crowd: Option<Result<Crowd, String>>,
}

impl SpeedSession {
    /// Asks the programs what they can do; they have been built.
    pub(crate) fn new(options: &CompareOptions) -> Result<Self, String> {
        Ok(Self {
            options: options.clone(),
            abilities: Abilities::ask()?,
            results: None,
            instructions: HashMap::new(),
            system_calls: HashMap::new(),
            alone: None,
            crowd: None,
        })
    }

    pub(crate) const fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    pub(crate) const fn results(&self) -> Option<&Results> {
        self.results.as_ref()
    }

    /// Measures all cells that the claims are about, interleaved.
    pub(crate) fn compare(&mut self, claims: &[Claim]) -> Result<(), String> {
        let mut cells: Vec<Cell> = Vec::new();
        for claim in claims {
            if let How::Ratio { of, to, .. } = &claim.how
                && self.abilities.lack(claim.needs).is_empty()
            {
                for cell in [Some(*of), Some(*to), to.without_an_orb()]
                    .into_iter()
                    .flatten()
                {
                    if !cells.contains(&cell) {
                        cells.push(cell);
                    }
                }
            }
        }
        if !cells.is_empty() {
            self.results = Some(measure_cells(&cells, &self.abilities, &self.options)?);
        }
        Ok(())
    }

    /// Instructions of one call.
    pub(crate) fn instructions(
        &mut self,
        peer: &str,
        work: Work,
        server_args: &[&str],
        client_args: &[&str],
    ) -> Result<Instructions, String> {
        let key = format!("{peer} {} {server_args:?} {client_args:?}", work.name());
        let measure = || {
            tools::ready(&["valgrind"])?;
            instructions::of_a_call(Peer::named(peer)?, work, server_args, client_args)
        };
        self.instructions.entry(key).or_insert_with(measure).clone()
    }

    /// System calls of one call, with the same options on both sides.
    pub(crate) fn system_calls(
        &mut self,
        peer: &str,
        work: Work,
        args: &[&str],
    ) -> Result<SystemCalls, String> {
        let key = format!("{peer} {} {args:?}", work.name());
        let measure = || {
            tools::ready(&["strace"])?;
            system_calls::of_a_call(Peer::named(peer)?, work, args)
        };
        self.system_calls.entry(key).or_insert_with(measure).clone()
    }

    /// A measurement of `benches/alone.rs`.
    pub(crate) fn alone(&mut self, name: &str) -> Result<f64, String> {
        let all = self.alone.get_or_insert_with(alone::measure).as_ref();
        let all = all.map_err(String::clone)?;
        let found = all.get(name).copied();
        found.ok_or_else(|| format!("benches/alone.rs measures no {name}"))
    }

    /// A server with ten thousand connections.
    pub(crate) fn crowd(&mut self) -> Result<Crowd, String> {
        let rounds = self.options.effort().0;
        self.crowd
            .get_or_insert_with(|| crowd::measure(rounds))
            .clone()
    }
}
