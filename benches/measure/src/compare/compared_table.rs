//! Tables of Markdown.

use crate::compare::cell::Stat;
use crate::compare::results::{Asked, Results};
use crate::measure::statistics::three_digits;

/// A table for each piece of work in each placement.
pub(crate) fn all(results: &Results) -> String {
    let mut text = String::new();
    let mut rest: Vec<&Asked> = results.all.iter().collect();
    while let Some(first) = rest.first().copied() {
        let together = |one: &&Asked| {
            one.cell.work == first.cell.work && one.cell.placement == first.cell.placement
        };
        let (group, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(together);
        text += &table(&group);
        rest = others;
    }
    text
}

fn table(group: &[&Asked]) -> String {
    let Some(first) = group.first() else {
        return String::new();
    };
    let (work, placement) = (first.cell.work, first.cell.placement);
    let stat = Stat::main_of(&work);
    let find = |name| group.iter().find(|one| one.cell.peer.name == name);
    let (omni, raw) = (find("omni"), find("raw"));
    let latency = stat == Stat::P50;
    let title = work.name();
    let unit = stat.unit();
    let heads = match latency {
        true => format!("p50, {unit} | p99, {unit} | p50 / omni | p99 / omni | p50 / raw"),
        false => format!("{unit} | / omni | / raw"),
    };
    let columns = heads.matches('|').count() + 1;
    let rule = "---:|".repeat(columns);
    let mut text = format!("\n#### {title}, {placement}\n\n| | {heads} |\n|---|{rule}\n");
    for one in group {
        let name = one.cell.peer.name;
        if !one.lacks.is_empty() {
            text += &format!("| {name} | not there: {} |\n", one.lacks.join(", "));
            continue;
        }
        let ratio = |to: Option<&&Asked>, stat| number(to.and_then(|to| one.over(to, stat)));
        let mut cells = vec![number(one.median(stat))];
        if latency {
            cells.push(number(one.median(Stat::P99)));
        }
        cells.push(ratio(omni, stat));
        if latency {
            cells.push(ratio(omni, Stat::P99));
        }
        cells.push(ratio(raw, stat));
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), three_digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::matrix::cells;
    use crate::compare::results::tests::made_up;

    #[test]
    fn a_table_has_medians_and_ratios() {
        let cells = cells(&["octet 65536".to_owned()]);
        let cells: Vec<_> = cells
            .into_iter()
            .filter(|c| ["omni", "raw"].contains(&c.peer.name))
            .collect();
        let results = made_up(&cells, 3, |n, _| if n % 2 == 0 { 20.0 } else { 10.0 });
        let text = all(&results);
        assert!(text.contains("#### octet 65536, same\n"), "{text}");
        assert!(
            text.contains("| omni | 20.0 | 40.0 | 1.00 | 1.00 | 2.00 |"),
            "{text}"
        );
        assert!(
            text.contains("| raw | 10.0 | 20.0 | 0.50 | 0.50 | 1.00 |"),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_measured_yet_is_said() {
        let cells = cells(&["octet 65536".to_owned()]);
        let mut results = made_up(&cells[..1], 1, |_, _| 1.0);
        results.all[0].lacks = vec!["wait=adaptive"];
        assert!(all(&results).contains("| omni | not there: wait=adaptive |"));
    }
}
