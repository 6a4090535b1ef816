//! The output of the experiments: a line of JSON for each value.

use serde::Serialize;

/// Prints values as they are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report;

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Sample {
        panel: &'a str,
        series: &'a str,
        x: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<&'a str>,
        value: f64,
        unit: &'static str,
    },
    Missing {
        missing: &'a str,
    },
}

impl Report {
    /// A value of a series in a panel.
    pub(crate) fn at(self, (panel, series): (&str, &str), x: f64, value: f64, unit: &'static str) {
        print(&Line::Sample {
            panel,
            series,
            x,
            label: None,
            value,
            unit,
        });
    }

    /// A value under a label, the labels in the order of their numbers.
    pub(crate) fn under(
        self,
        (panel, series): (&str, &str),
        (number, label): (usize, &str),
        value: f64,
        unit: &'static str,
    ) {
        print(&Line::Sample {
            panel,
            series,
            x: number as f64,
            label: Some(label),
            value,
            unit,
        });
    }

    /// A value that cannot be measured here, and the reason.
    pub(crate) fn missing(self, missing: &str) {
        print(&Line::Missing { missing });
    }
}

fn print(line: &Line<'_>) {
    match serde_json::to_string(line) {
        Ok(line) => println!("{line}"),
        Err(error) => eprintln!("{error:#}"),
    }
}
