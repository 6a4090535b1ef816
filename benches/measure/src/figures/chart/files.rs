//! A chart as a file: SVG.

use crate::figures::chart::{Chart, compact::compact, draw};
use plotters::backend::SVGBackend;
use plotters::style::{FontStyle, register_font};
use std::fs;
use std::path::Path;

/// Writes `FILE.svg` into a folder, which is made if it is not there.
///
/// # Errors
/// The file system's, or a font that cannot be read.
pub(crate) fn write(folder: &Path, chart: &Chart, caption: &str) -> Result<(), String> {
    fonts()?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let svg = folder.join(format!("{}.svg", chart.file));
    fs::write(&svg, as_svg(chart, caption)?).map_err(|e| format!("{}: {e}", svg.display()))
}

/// The generic name, so that a viewer takes a font of its own; text is measured by DejaVu Sans.
fn fonts() -> Result<(), String> {
    let fonts = [
        (FontStyle::Normal, dejavu::sans::regular()),
        (FontStyle::Bold, dejavu::sans::bold()),
    ];
    for (style, octets) in fonts {
        register_font(draw::FONT, style, octets).map_err(|_| "a font cannot be read")?;
    }
    Ok(())
}

fn as_svg(chart: &Chart, caption: &str) -> Result<String, String> {
    let mut text = String::new();
    let layout = draw::Layout::of(chart, caption, 1)?;
    draw::draw(
        SVGBackend::with_string(&mut text, layout.size()),
        chart,
        &layout,
    )?;
    Ok(compact(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::chart::{Axis, Kind, Panel};
    use crate::figures::data::tests::data;

    fn chart() -> Chart {
        let data = data(&[
            ("p", "zorb", 1.0, None, 10.0),
            ("p", "zorb", 100.0, None, 12.0),
            ("p", "omniORB", 1.0, None, 20.0),
            ("p", "omniORB", 100.0, None, 2000.0),
            ("b", "zorb", 0.0, Some("void"), 3.0),
        ]);
        let lines = Panel::lines(
            &data,
            "p",
            "one CPU",
            Axis::log("servants"),
            Axis::log("p50 (µs)"),
        );
        let axes = ("operation", Axis::linear("time (ns)"));
        let bars = Panel::bars(&data, "b", "bars", axes, Kind::Bars);
        Chart::new("a", "a picture", lines.into_iter().chain(bars).collect())
    }

    #[test]
    fn a_picture_says_what_it_shows() {
        fonts().unwrap();
        let svg = as_svg(&chart(), "one machine, missing: nothing").unwrap();
        let words = [
            "a picture",
            "servants",
            "p50 (µs)",
            "omniORB",
            "void",
            "one machine,",
        ];
        for word in words {
            assert!(svg.contains(word), "{word} is not in the picture");
        }
    }

    #[test]
    fn a_picture_is_written_once_and_is_compact() {
        let folder = tempfile::TempDir::new().unwrap();
        write(folder.path(), &chart(), "caption").unwrap();
        let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("<path "), "{svg}");
        assert!(!svg.contains(" opacity=\"1\""), "{svg}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_title_that_is_too_long_is_written_smaller() {
        fonts().unwrap();
        let sized = |title: &str| {
            let chart = Chart {
                title: title.to_owned(),
                ..chart()
            };
            let svg = as_svg(&chart, "caption").unwrap();
            let at = svg.find(title).unwrap();
            let text = svg
                .get(..at)
                .and_then(|before| before.rsplit_once("<text "));
            let size = text.unwrap().1.split("font-size=\"").nth(1).unwrap();
            size.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        let long = "calls of many callers together, ".repeat(5);
        assert!(sized(long.trim_end()) < sized("a picture"));
    }
}
