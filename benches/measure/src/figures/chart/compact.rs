//! Smaller SVG: neighbouring strokes of one style become one path, attributes that say the default go, what every text says is said
//! once, and sizes have two decimals.

/// A stroke: its style, as attributes without its points, and its points.
struct Stroke<'a> {
    style: String,
    points: Vec<(&'a str, &'a str)>,
}

/// The value of an attribute.
fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

/// A line of the picture as a stroke, if it is one without an area.
fn stroke(line: &str) -> Option<Stroke<'_>> {
    let color = attribute(line, "stroke")?;
    let width = attribute(line, "stroke-width")?;
    let opacity = attribute(line, "opacity")?;
    let points = match line {
        _ if line.starts_with("<line ") => {
            let at = |x, y| Some((attribute(line, x)?, attribute(line, y)?));
            vec![at("x1", "y1")?, at("x2", "y2")?]
        }
        _ if line.starts_with("<polyline fill=\"none\" ") => {
            let points = attribute(line, "points")?.split_whitespace();
            points
                .map(|point| point.split_once(','))
                .collect::<Option<_>>()?
        }
        _ => return None,
    };
    let style = match opacity {
        "1" => format!("stroke=\"{color}\" stroke-width=\"{width}\""),
        _ => format!("opacity=\"{opacity}\" stroke=\"{color}\" stroke-width=\"{width}\""),
    };
    (points.len() > 1).then_some(Stroke { style, points })
}

/// The moves of a stroke, relative to its first point where all are whole numbers.
fn moves(points: &[(&str, &str)]) -> String {
    let whole = |(x, y): &(&str, &str)| Some((x.parse::<i64>().ok()?, y.parse::<i64>().ok()?));
    let Some(whole) = points.iter().map(whole).collect::<Option<Vec<_>>>() else {
        let all: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        return format!("M{}", all.join("L"));
    };
    let mut text = String::new();
    let mut before = None;
    for (x, y) in whole {
        text += &match before {
            None => format!("M{x},{y}"),
            Some((from, down)) if down == y => format!("h{}", x - from),
            Some((from, down)) if from == x => format!("v{}", y - down),
            Some((from, down)) => format!("l{},{}", x - from, y - down),
        };
        before = Some((x, y));
    }
    text
}

/// The font of every text.
const FONT: &str = " font-family=\"sans-serif\"";
/// Attributes that say the default.
const DEFAULTS: [&str; 3] = [
    " opacity=\"1\"",
    " stroke=\"none\"",
    " text-anchor=\"start\"",
];

/// A line of the picture without what need not be said.
fn shorter(line: &str) -> String {
    let mut line = match line.starts_with("<svg ") {
        true => line.replacen("<svg", &format!("<svg{FONT}"), 1),
        false => line.replace(FONT, ""),
    };
    for default in DEFAULTS {
        line = line.replace(default, "");
    }
    let Some(size) = attribute(&line, "font-size").map(str::to_owned) else {
        return line;
    };
    let (long, value) = (format!("font-size=\"{size}\""), size.parse::<f64>());
    value.map_or_else(
        |_| line.clone(),
        |value| line.replacen(&long, &format!("font-size=\"{value:.2}\""), 1),
    )
}

/// The picture with fewer octets. What it shows stays the same: strokes are joined only with those next to them.
pub(super) fn compact(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len() / 4);
    let mut open: Option<String> = None;
    let mut lines = svg.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(stroke) = stroke(line) {
            if open.as_ref() != Some(&stroke.style) {
                close(&mut text, &mut open);
                text += &format!("<path fill=\"none\" {} d=\"", stroke.style);
                open = Some(stroke.style);
            }
            text += &moves(&stroke.points);
            continue;
        }
        // A label without text.
        if line.starts_with("<text ") && lines.peek().is_some_and(|label| label.trim().is_empty()) {
            lines.by_ref().take(2).for_each(drop);
            continue;
        }
        close(&mut text, &mut open);
        match line.starts_with('<') {
            true => text += &shorter(line),
            false => text += line,
        }
        text.push('\n');
    }
    close(&mut text, &mut open);
    text
}

fn close(text: &mut String, open: &mut Option<String>) {
    if open.take().is_some() {
        text.push_str("\"/>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn neighbouring_strokes_of_one_style_become_one_path() {
        let line = r##"<line opacity="1" stroke="#CDCDCD" stroke-width="1" x1="74" y1="339" x2="1143" y2="339"/>"##;
        let poly = r##"<polyline fill="none" opacity="1" stroke="#CDCDCD" stroke-width="1" points="73,62 73,339 70,341 "/>"##;
        let other = r##"<polyline fill="none" opacity="1" stroke="#000000" stroke-width="1" points="1,2 3,4 "/>"##;
        let rest = r##"<rect x="0" opacity="1" fill="#FFFFFF"/>"##;
        let svg = [line, poly, other, rest, line].join("\n");
        let expected = [
            r##"<path fill="none" stroke="#CDCDCD" stroke-width="1" d="M74,339h1069M73,62v277l-3,2"/>"##,
            r##"<path fill="none" stroke="#000000" stroke-width="1" d="M1,2l2,2"/>"##,
            r##"<rect x="0" fill="#FFFFFF"/>"##,
            r##"<path fill="none" stroke="#CDCDCD" stroke-width="1" d="M74,339h1069"/>"##,
        ];
        assert_eq!(compact(&svg), expected.join("\n") + "\n");
    }

    #[test]
    fn what_every_text_says_is_said_once() {
        let svg = r##"<svg width="9">"##;
        let label = r##"<text x="1" text-anchor="start" font-family="sans-serif" font-size="8.870967741935484" opacity="1">"##;
        let rest = r##"<rect x="0" stroke="none"/>"##;
        let text = [svg, label, "font-size=\"8.123\"", "</text>", rest, "</svg>"].join("\n");
        let expected = [
            r##"<svg font-family="sans-serif" width="9">"##,
            r##"<text x="1" font-size="8.87">"##,
            "font-size=\"8.123\"",
            "</text>",
            r##"<rect x="0"/>"##,
            "</svg>",
        ];
        assert_eq!(compact(&text), expected.join("\n") + "\n");
    }

    #[test]
    fn translucent_strokes_are_joined_with_each_other_and_empty_labels_go() {
        let line = r##"<polyline fill="none" opacity="0.3" stroke="#000000" stroke-width="1" points="1,2 3,4 "/>"##;
        let label = "<text x=\"1\">\n\n</text>\n<text x=\"2\">\nvoid\n</text>";
        let svg = format!("{line}\n{line}\n{label}\n");
        let path = r##"<path fill="none" opacity="0.3" stroke="#000000" stroke-width="1" d="M1,2l2,2M1,2l2,2"/>"##;
        assert_eq!(
            compact(&svg),
            format!("{path}\n<text x=\"2\">\nvoid\n</text>\n")
        );
    }
}
