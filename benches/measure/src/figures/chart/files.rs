//! A chart in files: SVG for pages, PNG for everything else.

use crate::figures::chart::{Chart, draw};
use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::style::{FontStyle, register_font};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

/// Pixels of the PNG for each of the SVG.
const SHARPNESS: u32 = 2;

/// Writes `FILE.svg` and `FILE.png` into a folder, which is made if it is not there.
///
/// # Errors
/// The file system's, or a font that cannot be read.
pub(crate) fn write(folder: &Path, chart: &Chart, caption: &str) -> Result<(), String> {
    fonts()?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let svg = folder.join(format!("{}.svg", chart.file));
    fs::write(&svg, as_svg(chart, caption)?).map_err(|e| format!("{}: {e}", svg.display()))?;
    let png = folder.join(format!("{}.png", chart.file));
    as_png(&png, chart, caption).map_err(|e| format!("{}: {e}", png.display()))
}

/// The generic name, so that who shows an SVG takes a font of theirs; DejaVu Sans is what it is measured by, and what
/// a PNG is drawn with.
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
    Ok(text)
}

fn as_png(file: &Path, chart: &Chart, caption: &str) -> Result<(), String> {
    let layout = draw::Layout::of(chart, caption, SHARPNESS)?;
    let (width, height) = layout.size();
    let mut pixels = vec![255; 3 * width as usize * height as usize];
    let backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
    draw::draw(backend, chart, &layout)?;
    let file = File::create(file).map_err(|e| e.to_string())?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
    writer
        .write_image_data(&pixels)
        .map_err(|e| e.to_string())?;
    writer.finish().map_err(|e| e.to_string())
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
    fn a_picture_is_written_twice_and_the_png_has_more_than_a_background() {
        let folder = tempfile::TempDir::new().unwrap();
        write(folder.path(), &chart(), "caption").unwrap();
        let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
        assert!(svg.starts_with("<svg"));
        let file = File::open(folder.path().join("a.png")).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(file))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let dark = pixels.iter().filter(|octet| **octet < 128).count();
        assert!(dark > 1000, "{dark} dark octets");
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
