//! `cargo xtask figures`: the experiments of the papers, redone with zorb, omniORB and raw sockets beside each other,
//! and drawn.

mod blocks;
pub(crate) mod chart;
pub(crate) mod contender;
mod cubit;
pub(crate) mod data;
mod demultiplexing;
pub(crate) mod finding;
pub(crate) mod lanes;
mod latency;
mod measured;
mod page;
mod principles;
mod profiles;
mod scale;
pub(crate) mod session;
mod source;
mod steady;
mod throughput;

use crate::compare;
use crate::measure::machine::Machine;
use crate::measure::place::Cpus;
use crate::measure::{programs, quiet, tools};
use crate::row::Row;
use chart::Chart;
use clap::Args;
use data::{Data, Point};
use finding::{Finding, Placed};
use measured::MOST_ROUNDS;
use page::Shown;
use session::Session;
use source::Source;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use xtask::peers;
use xtask::step::{Done, root, target};

/// An experiment of a paper, or one in its spirit.
pub(crate) struct Experiment {
    /// The name of the experiment on the command line and in its files.
    pub(crate) name: &'static str,
    /// The papers, and their figures and tables by their numbers; none if it is ours.
    pub(crate) sources: &'static [Source],
    /// The finding of the paper, in a few sentences of our own; the question of an experiment of ours.
    pub(crate) found: &'static str,
    /// The result of the data beside that, in at most three sentences; `None` where it lacks a number of them.
    pub(crate) seen: fn(&Data) -> Option<String>,
    /// How it was measured, in short paragraphs.
    pub(crate) method: &'static str,
    /// Where the programs ran that its findings are of, unless one of them says otherwise.
    pub(crate) placed: Placed,
    /// Measures; the session notes which programs are missing.
    pub(crate) measure: fn(&Session) -> Result<Vec<Point>, String>,
    /// Its pictures, drawn from the data alone.
    pub(crate) charts: fn(&Data) -> Vec<Chart>,
    /// The paper's claims about them and today's results, computed from the data.
    pub(crate) findings: fn(&Data) -> Vec<Finding>,
}

/// Every experiment, in the order of the page.
const EXPERIMENTS: [Experiment; 8] = [
    latency::EXPERIMENT,
    demultiplexing::EXPERIMENT,
    throughput::EXPERIMENT,
    cubit::EXPERIMENT,
    principles::EXPERIMENT,
    profiles::EXPERIMENT,
    lanes::EXPERIMENT,
    scale::EXPERIMENT,
];

/// Tables of an experiment's data, and how to read its pictures: below the claims.
fn tables(experiment: &Experiment, data: &Data) -> String {
    match experiment.name {
        name if name == profiles::EXPERIMENT.name => profiles::tables(data),
        name if name == throughput::EXPERIMENT.name => throughput::tables(data),
        name if name == lanes::EXPERIMENT.name => lanes::stories(),
        _ => String::new(),
    }
}

/// How the page of whole findings begins.
const FINDINGS: &str = "# Findings in full\n\nThe numbers behind each claim of [the page of experiments](../papers.md), with quartiles. Filled in by \
    `cargo xtask figures`.\n";

/// Rounds of a run for figures, all of which take some twenty minutes, and of a quick one.
const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 1;

/// The experiments, and their options.
#[derive(Args, Clone, Debug)]
#[group(id = "figures")]
pub(crate) struct FiguresOptions {
    /// Experiments to redo; all of them unless named
    names: Vec<String>,
    /// A quick look at everything, into target/figures instead of docs: to see that it runs, not for figures
    #[arg(long)]
    quick: bool,
    /// Rounds, up to 16; the medians of them count
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=MOST_ROUNDS as i64))]
    rounds: Option<u8>,
    /// Name the experiments, and measure nothing
    #[arg(long)]
    list: bool,
    /// Draw again what was measured before, and fill in the page
    #[arg(long)]
    redraw: bool,
}

/// The files that a run writes: data and pictures, the page, and how the page calls the former.
struct Out {
    folder: PathBuf,
    page: PathBuf,
    pictures: &'static str,
    quick: bool,
    /// Held while the page and the page of findings are filled in.
    pages: Mutex<()>,
}

impl Out {
    fn of(quick: bool) -> Self {
        let docs = root().join("docs");
        if quick {
            let folder = target().join("figures");
            let page = folder.join("papers.md");
            return Self {
                folder,
                page,
                pictures: "",
                quick,
                pages: Mutex::default(),
            };
        }
        Self {
            folder: docs.join("figures"),
            page: docs.join("papers.md"),
            pictures: "figures/",
            quick,
            pages: Mutex::default(),
        }
    }

    fn ready(&self, quick: bool) -> Done {
        let shown = self.folder.display();
        fs::create_dir_all(&self.folder).map_err(|e| format!("{shown}: {e}"))?;
        if quick {
            let from = Self::of(false).page;
            fs::copy(&from, &self.page).map_err(|e| format!("{}: {e}", from.display()))?;
        }
        Ok(())
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// Fills in the tables of README.md, COMPARE.md and the page that are of all data. A quick look is not for them.
    fn front(&self) -> Done {
        match self.quick {
            true => Ok(()),
            false => blocks::fill(&self.folder).and_then(|()| compare::fill()),
        }
    }
}

/// Measures the experiments, draws them, and fills in the page.
///
/// # Errors
/// There is no experiment of a name, something does not build, run or end, or a file cannot be written.
pub(crate) fn run(options: &FiguresOptions) -> Done {
    let mut experiments = choose(&options.names)?;
    if options.list {
        for experiment in experiments {
            println!(
                "{}: {}",
                experiment.name,
                source::origin(experiment.sources)
            );
        }
        return Ok(());
    }
    let out = Out::of(options.quick);
    out.ready(options.quick)?;
    if options.redraw {
        for experiment in experiments {
            let file = out.data(experiment.name);
            if file.exists() {
                let data = Data::read(&file)?;
                data.write(&file)?;
                show(&out, experiment, &data)?;
            }
        }
        return out.front();
    }
    if options.quick {
        programs::choose(programs::DEV);
    }
    let omniorb = ready(options)?;
    let cpus = Cpus::pick()?;
    // A quick look measures nothing, so two experiments run at a time; the longest begin first.
    if options.quick {
        let long = [profiles::EXPERIMENT.name, cubit::EXPERIMENT.name];
        experiments.sort_by_key(|experiment| !long.contains(&experiment.name));
    }
    let workers = match options.quick {
        true => vec![cpus, cpus.swapped()],
        false => vec![cpus],
    };
    let left = Mutex::new(experiments.into_iter());
    let failed = Mutex::new(Vec::new());
    let work = |cpus: Cpus| {
        let usual = if options.quick { QUICK_ROUNDS } else { ROUNDS };
        let rounds = options.rounds.map_or(usual, usize::from);
        let session = Session::new(options.quick, rounds, cpus, omniorb.clone());
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(experiment) = next() {
            // A missing part of one of them does not stop the others.
            if let Err(why) = one(&session, &out, experiment) {
                eprintln!("{}: {why}", experiment.name);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.push(experiment.name);
            }
        }
    };
    thread::scope(|scope| {
        for cpus in workers {
            scope.spawn(move || work(cpus));
        }
    });
    out.front()?;
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(format!("failed: {}", failed.join(", "))),
    }
}

fn choose(names: &[String]) -> Result<Vec<&'static Experiment>, String> {
    let known = |name: &String| EXPERIMENTS.iter().any(|experiment| experiment.name == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let known: Vec<_> = EXPERIMENTS.iter().map(|e| e.name).collect();
        return Err(format!(
            "no experiment is called {unknown}; there are {}",
            known.join(", ")
        ));
    }
    let chosen = |e: &&Experiment| names.is_empty() || names.iter().any(|name| name == e.name);
    Ok(EXPERIMENTS.iter().filter(chosen).collect())
}

/// Builds the programs, and says why there is no omniORB, if there is none: pictures without it say so.
fn ready(options: &FiguresOptions) -> Result<Result<(), String>, String> {
    tools::ready(&["taskset", "prlimit", "git"])?;
    let omniorb = match options.names.as_slice() {
        // This experiment has one process, without peers.
        [name] if name == lanes::EXPERIMENT.name => {
            lanes::build()?;
            Err("not asked for".to_owned())
        }
        // This experiment has one program, which is linked as a whole.
        [name] if name == cubit::EXPERIMENT.name => {
            cubit::build()?;
            peers::ready_to_compare()
        }
        _ => {
            programs::build_ours()?;
            peers::ready_to_compare()
        }
    };
    if let Err(why) = &omniorb {
        eprintln!("without omniORB: {why}");
    }
    Ok(omniorb)
}

fn one(session: &Session, out: &Out, experiment: &Experiment) -> Done {
    // A quick look is no measurement, and is had on machines that are never quiet.
    let others = session.pick(quiet::wait as fn() -> _, quiet::look)();
    let machine = Machine::here();
    session.begin(experiment.name);
    let measured = (experiment.measure)(session);
    let (missing, tools) = session.over();
    let data = Data {
        experiment: experiment.name.to_owned(),
        machine,
        rounds: session.rounds,
        quick: session.quick,
        missing,
        others: others.used,
        tools,
        warnings: Vec::from_iter(others.warning),
        points: measured?,
    };
    data.write(&out.data(experiment.name))?;
    // The page and its findings are read, changed and written.
    let _alone = out.pages.lock().unwrap_or_else(PoisonError::into_inner);
    show(out, experiment, &data)
}

/// Draws, fills in the page, and says what was found.
fn show(out: &Out, experiment: &Experiment, data: &Data) -> Done {
    let shown = Shown::of(experiment, data);
    for chart in &shown.charts {
        let caption = data.caption_of(&chart.rounds(), chart.tools());
        chart::write(&out.folder, chart, &caption)?;
    }
    let page = out.page.display();
    let text = fs::read_to_string(&out.page).map_err(|e| format!("{page}: {e}"))?;
    let text = shown.on(&text, out.pictures);
    let text = text.ok_or_else(|| format!("{page}: no end of {}", experiment.name))?;
    fs::write(&out.page, text).map_err(|e| format!("{page}: {e}"))?;
    let whole = out.folder.join("findings.md");
    let text = fs::read_to_string(&whole).unwrap_or_else(|_| FINDINGS.to_owned());
    let text = shown.findings_on(&text);
    let text = text.ok_or_else(|| format!("{}: no end of {}", whole.display(), experiment.name))?;
    fs::write(&whole, text).map_err(|e| format!("{}: {e}", whole.display()))?;
    println!(
        "{}: {} points, {} pictures in {}",
        experiment.name,
        data.points.len(),
        shown.charts.len(),
        out.folder.display()
    );
    Ok(())
}

/// The rows of `cargo xtask claims figures`: of what the last run for figures left, which takes minutes.
/// An experiment that has left none has no rows.
///
/// # Errors
/// Data cannot be read.
pub(crate) fn rows(words: &[String]) -> Result<Vec<Row>, String> {
    let out = Out::of(false);
    let mut rows = Vec::new();
    for experiment in &EXPERIMENTS {
        let file = out.data(experiment.name);
        if !file.exists() {
            continue;
        }
        let data = Data::read(&file)?;
        rows.extend(finding::rows(&data, &(experiment.findings)(&data)));
    }
    let asked = |row: &Row| words.is_empty() || words.iter().any(|word| row.name.contains(word));
    rows.retain(asked);
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_experiments_share_a_name() {
        let names: BTreeSet<_> = EXPERIMENTS.iter().map(|e| e.name).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
    }

    #[test]
    fn an_experiment_is_chosen_by_its_name() {
        let chosen = choose(&["latency".to_owned()]).unwrap();
        assert_eq!(chosen.len(), 1);
        assert_eq!(choose(&[]).unwrap().len(), EXPERIMENTS.len());
        assert!(choose(&["latency".to_owned(), "no such".to_owned()]).is_err());
    }

    #[test]
    fn every_experiment_has_its_data_and_its_pictures_checked_in() {
        let out = Out::of(false);
        for experiment in &EXPERIMENTS {
            let file = out.data(experiment.name);
            let data = Data::read(&file).unwrap();
            let stored = fs::read_to_string(&file).unwrap();
            assert!(
                stored == data.to_json().unwrap(),
                "{}: `cargo xtask figures --redraw` stores it in another form",
                file.display()
            );
            assert!(!data.quick, "{}: a quick look", experiment.name);
            let charts = (experiment.charts)(&data);
            assert!(!charts.is_empty(), "{}", experiment.name);
            for chart in charts {
                let picture = out.folder.join(format!("{}.svg", chart.file));
                assert!(picture.exists(), "{}", picture.display());
            }
        }
    }

    /// Pictures and claims, all of them: what `cargo xtask figures --redraw` would write.
    #[test]
    fn the_page_says_what_the_data_says() {
        let out = Out::of(false);
        let page = fs::read_to_string(&out.page).unwrap();
        for experiment in &EXPERIMENTS {
            let data = Data::read(&out.data(experiment.name)).unwrap();
            let again = Shown::of(experiment, &data).on(&page, out.pictures);
            let again = again.unwrap();
            let whole = fs::read_to_string(out.folder.join("findings.md")).unwrap();
            let findings = Shown::of(experiment, &data).findings_on(&whole).unwrap();
            assert!(
                whole == findings,
                "{}: run cargo xtask figures --redraw",
                experiment.name
            );
            let changed = page.lines().zip(again.lines()).find(|(a, b)| a != b);
            let name = experiment.name;
            assert!(
                page == again,
                "{name}: run cargo xtask figures --redraw: {changed:?}"
            );
        }
    }

    /// A cell is a value or a phrase: what is longer is shortened where it is written, and not on the page.
    #[test]
    fn the_cells_of_claims_are_short_and_whole() {
        let page = fs::read_to_string(Out::of(false).page).unwrap();
        let (_, sections) = page.split_once("<!-- latency").unwrap();
        let mut long: Vec<&str> = Vec::new();
        for row in sections.lines().filter(|line| line.starts_with("| ")) {
            let cells = row.trim_matches('|').split(" | ").map(str::trim);
            long.extend(
                cells.filter(|cell| {
                    cell.chars().count() > page::MOST_CHARACTERS || cell.contains('…')
                }),
            );
        }
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn no_picture_is_left_that_the_page_does_not_show() {
        let out = Out::of(false);
        let page = fs::read_to_string(&out.page).unwrap();
        for file in fs::read_dir(&out.folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            let shown = [")", "#"].map(|end| page.contains(&format!("(figures/{name}{end}")));
            let shown = shown.contains(&true);
            assert!(shown, "{name} is not on the page: remove it");
        }
    }

    #[test]
    fn sections_of_the_page_are_in_the_order_of_the_experiments() {
        let page = fs::read_to_string(Out::of(false).page).unwrap();
        let place = |e: &Experiment| page.find(&format!("<!-- {}: filled in by", e.name));
        let places: Vec<_> = EXPERIMENTS.iter().map(place).collect();
        assert!(places.is_sorted(), "{places:?}");
    }
}
