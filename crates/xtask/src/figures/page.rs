//! The page of the papers: a section for each experiment, filled in from its data.

use crate::compare::page::fill;
use crate::figures::chart::Chart;
use crate::figures::data::Data;
use crate::figures::finding::{self, Finding};
use crate::figures::{Experiment, tables};
use crate::step::Done;
use std::fs;
use std::path::Path;

/// Fills in an experiment's section. One that has none yet gets it, at the end.
///
/// # Errors
/// The page cannot be read or written.
pub(crate) fn write(
    file: &Path,
    pictures: &str,
    experiment: &Experiment,
    data: &Data,
    charts: &[Chart],
    findings: &[Finding],
) -> Done {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|e| format!("{shown}: {e}"))?;
    let name = experiment.name;
    if !text.contains(&begin(name)) {
        let text = format!("{}\n\n{}", text.trim_end(), place(name));
        fs::write(file, text).map_err(|e| format!("{shown}: {e}"))?;
    }
    fill(
        file,
        name,
        &section(pictures, experiment, data, charts, findings),
    )
}

fn begin(name: &str) -> String {
    format!("<!-- {name}: filled in by ")
}

fn place(name: &str) -> String {
    format!(
        "{}`cargo xtask figures {name}` -->\n<!-- {name}: end -->\n",
        begin(name)
    )
}

fn section(
    pictures: &str,
    experiment: &Experiment,
    data: &Data,
    charts: &[Chart],
    findings: &[Finding],
) -> String {
    let Experiment {
        name,
        paper,
        question,
        ..
    } = experiment;
    let mut parts = vec![
        format!("## {}", title(name)),
        (*question).to_owned(),
        format!("From {paper}."),
    ];
    for chart in charts {
        let Chart { file, title, .. } = chart;
        parts.push(format!(
            "[![{title}]({pictures}{file}.svg)]({pictures}{file}.png)"
        ));
    }
    let tables = tables(experiment, data);
    if !tables.is_empty() {
        parts.push(tables.trim_end().to_owned());
    }
    if !findings.is_empty() {
        parts.push(finding::table(findings));
    }
    parts.push(format!("{} [Data]({pictures}{name}.json).", data.caption()));
    parts.join("\n\n")
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
    use crate::figures::finding::Holds;

    const EXPERIMENT: Experiment = Experiment {
        name: "white-box",
        paper: "Some paper, Table 1",
        question: "Where does the time go?",
        measure: |_| Ok(Vec::new()),
        charts: |_| Vec::new(),
        findings: |_| Vec::new(),
    };

    #[test]
    fn a_section_is_made_once_and_then_filled_in_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("papers.md");
        fs::write(&file, "# The papers\n").unwrap();
        let chart = Chart {
            file: "white-box-client".to_owned(),
            title: "a call".to_owned(),
            panels: Vec::new(),
        };
        let finding = Finding::new("it is fast", [], |[]| ("it is".to_owned(), Holds::Yes));
        let mut texts = Vec::new();
        for _ in 0..2 {
            let (charts, findings) = ([chart.clone()], [finding.clone()]);
            write(
                &file,
                "figures/",
                &EXPERIMENT,
                &data(&[]),
                &charts,
                &findings,
            )
            .unwrap();
            texts.push(fs::read_to_string(&file).unwrap());
        }
        assert_eq!(texts[0], texts[1]);
        for words in [
            "# The papers",
            "## White box",
            "Where does the time go?",
            "From Some paper, Table 1.",
            "[![a call](figures/white-box-client.svg)](figures/white-box-client.png)",
            "| it is fast | it is | yes |",
            "[Data](figures/white-box.json)",
        ] {
            assert!(texts[0].contains(words), "no {words} in {}", texts[0]);
        }
    }
}
