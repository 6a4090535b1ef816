//! The page of the papers: a section for each experiment, filled in from its data.

use crate::figures::chart::Chart;
use crate::figures::data::Data;
use crate::figures::finding::{self, Finding};
use crate::figures::{EXPERIMENTS, Experiment, source, tables};
use crate::markers::filled;

/// The most characters of a cell of a finding, which `findings.md` has with quartiles and all clauses.
pub(crate) const MOST_CHARACTERS: usize = 120;

/// An experiment with everything that is shown of it.
pub(crate) struct Shown<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) data: &'a Data,
    pub(crate) charts: Vec<Chart>,
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Shown<'a> {
    /// The findings that the data shows.
    pub(crate) fn of(experiment: &'a Experiment, data: &'a Data) -> Self {
        Self {
            experiment,
            data,
            charts: (experiment.charts)(data),
            findings: (experiment.findings)(data),
        }
    }

    /// The page with this experiment's section filled in; one that has none yet gets it, before that of the next
    /// experiment that has one. None if a marker has lost its end.
    pub(crate) fn on(&self, page: &str, pictures: &str) -> Option<String> {
        let name = self.experiment.name;
        filled(&with_place(page, name), name, &self.section(pictures))
    }

    /// The text between the markers.
    fn section(&self, pictures: &str) -> String {
        let Experiment {
            name,
            sources,
            found,
            seen,
            method,
            placed,
            ..
        } = self.experiment;
        let lead = match sources.is_empty() {
            true => "The question:",
            false => "The paper found:",
        };
        let mut parts = vec![format!("## {}", title(name)), format!("**{lead}** {found}")];
        let seen = seen(self.data).map(|seen| finding::without_quartiles(&seen));
        parts.extend(seen.map(|seen| format!("**We see:** {seen}")));
        for chart in &self.charts {
            let Chart { file, title, .. } = chart;
            parts.push(format!("![{title}]({pictures}{file}.svg)"));
        }
        if !self.findings.is_empty() {
            let table = finding::table(
                &self.findings,
                *placed,
                sources.is_empty(),
                Some(MOST_CHARACTERS),
            );
            parts.push(table.trim_end().to_owned());
        }
        let tables = tables(self.experiment, self.data);
        if !tables.is_empty() && is_short(&tables) {
            parts.push(tables.trim_end().to_owned());
        }
        parts.push("### How it was measured".to_owned());
        parts.push((*method).to_owned());
        parts.push(source::origin(sources));
        let caption = self.caption();
        let anchor = name.replace(' ', "-");
        parts.push(format!(
            "{caption} [Data]({pictures}{name}.json), [findings in full]({pictures}findings.md#{anchor})."
        ));
        parts.join("\n\n")
    }

    /// The page of whole findings with this experiment's filled in. None if a marker has lost its end.
    pub(crate) fn findings_on(&self, page: &str) -> Option<String> {
        let Experiment {
            name,
            sources,
            placed,
            ..
        } = self.experiment;
        let table = finding::table(&self.findings, *placed, sources.is_empty(), None);
        let mut section = format!("## {}\n\n{}", title(name), table.trim_end());
        let tables = tables(self.experiment, self.data);
        if !is_short(&tables) {
            section += &format!("\n\n{}", tables.trim_end());
        }
        filled(&with_place(page, name), name, &section)
    }

    /// The caption of all pictures and tables.
    fn caption(&self) -> String {
        let data = self.data;
        let mut tools: Vec<&str> = data.tools.keys().map(String::as_str).collect();
        tools.extend(
            self.charts
                .iter()
                .flat_map(|chart| chart.tools().iter().copied()),
        );
        tools.sort_unstable();
        tools.dedup();
        let rounds: Vec<usize> = data.points.iter().map(|point| point.rounds).collect();
        data.caption_of(&rounds, &tools)
    }
}

/// Whether all cells of tables are short enough for the page.
fn is_short(tables: &str) -> bool {
    let rows = tables.lines().filter(|line| line.starts_with('|'));
    let mut cells = rows.flat_map(|line| line.split(" | "));
    cells.all(|cell| cell.chars().count() <= MOST_CHARACTERS + 4)
}

fn begin(name: &str) -> String {
    format!("<!-- {name}: filled in by ")
}

/// The page with a place for an experiment's section, where the order of the experiments has it.
fn with_place(page: &str, name: &str) -> String {
    if page.contains(&begin(name)) {
        return page.to_owned();
    }
    let place = format!(
        "{}`cargo xtask figures {name}` -->\n<!-- {name}: end -->\n",
        begin(name)
    );
    let later = EXPERIMENTS.iter().skip_while(|one| one.name != name);
    let next = later.skip(1).find_map(|one| page.find(&begin(one.name)));
    match next.and_then(|at| page.split_at_checked(at)) {
        Some((before, behind)) => format!("{}\n\n{place}\n{behind}", before.trim_end()),
        None => format!("{}\n\n{place}", page.trim_end()),
    }
}

/// A name as a heading.
fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;
    use crate::figures::finding::{Holds, Placed};
    use crate::figures::source::Source;

    const fn experiment(name: &'static str, sources: &'static [Source]) -> Experiment {
        Experiment {
            name,
            sources,
            found: "The kernel takes half of a call.",
            seen: |data| {
                data.points
                    .is_empty()
                    .then(|| "It takes all of it.".to_owned())
            },
            method: "Each step ends with a mark.",
            placed: Placed::Split,
            measure: |_| Ok(Vec::new()),
            charts: |_| vec![Chart::new("white-box-client", "a call", Vec::new())],
            findings: |_| {
                let seen = "it is".to_owned();
                vec![Finding::said("it is fast", seen, Holds::Yes)]
            },
        }
    }

    const WHITE_BOX: Experiment = experiment("white-box", &[(source::PLUGGABLE, "Table 1")]);

    #[test]
    fn a_section_is_made_once_and_then_filled_in_again() {
        let data = data(&[]);
        let shown = Shown::of(&WHITE_BOX, &data);
        let once = shown.on("# The papers\n", "figures/").unwrap();
        assert_eq!(shown.on(&once, "figures/").as_ref(), Some(&once));
        for words in [
            "# The papers",
            "## White box",
            "**The paper found:** The kernel takes half of a call.\n\n**We see:** It takes all of it.\n\n![",
            "### How it was measured\n\nEach step ends with a mark.\n\nFrom O'Ryan, Kuhns,",
            "Computing Middleware*, Table 1.",
            "![a call](figures/white-box-client.svg)",
            "| the paper's claim |",
            "| it is fast | a CPU each | it is | yes |",
            "[Data](figures/white-box.json)",
        ] {
            assert!(once.contains(words), "no {words} in {once}");
        }
    }

    #[test]
    fn a_finding_is_short_on_the_page_and_whole_beside_the_data() {
        let long = |_: &Data| {
            let seen = format!("zorb 1.00 (0.90 to 1.10){}", "; and 1.00".repeat(40));
            vec![Finding::said("so it is (4.1; Figure 6)", seen, Holds::Yes)]
        };
        let experiment = Experiment {
            findings: long,
            ..WHITE_BOX
        };
        let data = data(&[]);
        let shown = Shown::of(&experiment, &data);
        let short = shown.on("# The papers\n", "").unwrap();
        let row = short
            .lines()
            .find(|line| line.starts_with("| so it is"))
            .unwrap();
        assert!(
            row.split(" | ")
                .all(|cell| cell.chars().count() <= MOST_CHARACTERS + 2),
            "{row}"
        );
        assert!(
            row.contains("| zorb 1.00; and 1.00; and") && !row.contains('…'),
            "{row}"
        );
        let whole = shown.findings_on("# Findings\n").unwrap();
        assert!(whole.contains(&"; and 1.00".repeat(40)), "{whole}");
        assert!(whole.contains("zorb 1.00 (0.90 to 1.10)"), "{whole}");
    }

    #[test]
    fn what_is_ours_is_not_said_to_be_a_papers() {
        let data = data(&[]);
        let page = Shown::of(&experiment("scale", &[]), &data).on("# The papers\n", "");
        let page = page.unwrap();
        assert!(page.contains("An experiment of our own"), "{page}");
        assert!(page.contains("**The question:** The kernel"), "{page}");
        assert!(!page.contains("paper's claim"), "{page}");
    }

    #[test]
    fn sections_are_in_the_order_of_the_experiments_whichever_is_first() {
        let data = data(&[]);
        let mut page = "# The papers\n".to_owned();
        for name in ["profiles", "latency", "scale", "white-box"] {
            page = Shown::of(&experiment(name, &[]), &data)
                .on(&page, "")
                .unwrap();
        }
        let places = ["latency", "white-box", "profiles", "scale"].map(|n| page.find(&begin(n)));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    }
}
