//! Pictures of recorded numbers: lines over a numeric axis, or bars by label, in panels side by side.

use crate::figures::data::{Data, Point};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// The quantity along an axis, and how it is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) title: &'static str,
    pub(crate) scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// From zero on.
    Linear,
    Log,
}

/// Colours that differ for the colour-blind, too (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(160, 130, 0),
];
const FONT: &str = "sans-serif";
/// The size of one panel, of the title, and of a line of the legend, in pixels.
const PANEL: (u32, u32) = (500, 330);
const TITLE: u32 = 34;
const LEGEND: u32 = 22;

/// Draws the data as an SVG.
///
/// # Errors
/// There is nothing to draw, or it cannot be drawn.
pub(crate) fn draw(title: &str, x: Axis, y: Axis, data: &Data) -> Result<String, String> {
    let panels = data.panels();
    if panels.is_empty() {
        return Err(format!("{title}: there is nothing to draw"));
    }
    let series = data.series();
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let size = (
        PANEL.0 * u32::try_from(columns).unwrap_or(1),
        TITLE + PANEL.1 * u32::try_from(rows).unwrap_or(1) + legend_height(&series, columns),
    );
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let said = |e: DrawingAreaErrorKind<_>| format!("{title}: {e}");
        root.fill(&WHITE).map_err(said)?;
        let (head, rest) = root.split_vertically(TITLE);
        let style = (FONT, 17).into_font().color(&BLACK);
        head.draw(&Text::new(title.to_owned(), (12, 9), style))
            .map_err(said)?;
        let (areas, legend) = rest.split_vertically(PANEL.1 * u32::try_from(rows).unwrap_or(1));
        for (area, panel) in areas.split_evenly((rows, columns)).iter().zip(&panels) {
            let points: Vec<&Point> = data
                .points
                .iter()
                .filter(|it| it.panel == **panel)
                .collect();
            if points.iter().any(|point| !point.label.is_empty()) {
                bars(area, panel, y, &points, &series).map_err(said)?;
            } else {
                lines(area, panel, x, y, &points, &series).map_err(said)?;
            }
        }
        for (n, (name, (at, row))) in series.iter().zip(places(&series, columns)).enumerate() {
            let (at, top) = (at + 14, i32::try_from(row * LEGEND).unwrap_or(0) + 5);
            let sign = Rectangle::new([(at, top), (at + 12, top + 12)], colour(n).filled());
            legend.draw(&sign).map_err(said)?;
            let style = (FONT, 14).into_font().color(&BLACK);
            legend
                .draw(&Text::new((*name).to_owned(), (at + 18, top), style))
                .map_err(said)?;
        }
        root.present().map_err(said)?;
    }
    Ok(svg)
}

const fn colour(n: usize) -> RGBColor {
    COLOURS[n % COLOURS.len()]
}

/// Where each name of the legend begins, and in which line.
fn places(series: &[&str], columns: usize) -> Vec<(i32, u32)> {
    let width = i32::try_from(PANEL.0).unwrap_or(0) * i32::try_from(columns).unwrap_or(1);
    let (mut at, mut row) = (0, 0);
    let place = |name: &&str| {
        let wide = 40 + 7 * i32::try_from(name.chars().count()).unwrap_or(0);
        if at > 0 && at + wide > width {
            (at, row) = (0, row + 1);
        }
        let place = (at, row);
        at += wide;
        place
    };
    series.iter().map(place).collect()
}

fn legend_height(series: &[&str], columns: usize) -> u32 {
    places(series, columns)
        .last()
        .map_or(0, |(_, row)| (row + 1) * LEGEND)
        + 6
}

/// An axis of numbers whose marks are chosen beforehand; a logarithmic one has their logarithms.
struct Marked {
    range: Range<f64>,
    marks: Vec<f64>,
    scale: Scale,
}

impl Marked {
    /// The axis on which all these values are.
    fn of(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let values: Vec<f64> = values
            .filter(|value| value.is_finite() && (scale == Scale::Linear || *value > 0.0))
            .collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high {
            (low, high)
        } else {
            (1.0, 10.0)
        };
        match scale {
            Scale::Linear => {
                let step = step((high - low.min(0.0)).max(f64::MIN_POSITIVE) / 5.0);
                let from = (low.min(0.0) / step).floor();
                let to = (high * 1.02 / step).ceil();
                let marks = (0..=30).map(|n| (from + f64::from(n)) * step);
                Self {
                    range: from * step..to * step,
                    marks: marks
                        .take_while(|mark| *mark <= to * step * 1.0001)
                        .collect(),
                    scale,
                }
            }
            Scale::Log => {
                let (low, high) = ((low * 0.9).log10(), (high * 1.1).log10());
                let within = |mark: &f64| (low..=high).contains(mark);
                let of = |digits: &[f64]| -> Vec<f64> {
                    let decades = (-12..=12).map(|n| 10_f64.powi(n));
                    let all = decades
                        .flat_map(|ten| digits.iter().map(move |digit| (digit * ten).log10()));
                    all.filter(within).collect()
                };
                // As many as can be read.
                let marks = [of(&[1.0]), of(&[1.0, 3.0]), of(&[1.0, 2.0, 5.0])];
                let marks = marks.into_iter().find(|marks| marks.len() >= 3);
                let marks = marks
                    .unwrap_or_else(|| of(&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]));
                Self {
                    range: low..high,
                    marks,
                    scale,
                }
            }
        }
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10().max(self.range.start),
            Scale::Log => self.range.start,
        }
    }
}

/// A round number that is not below the value.
fn step(least: f64) -> f64 {
    let ten = 10_f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * ten);
    round
        .into_iter()
        .find(|step| *step >= least * 0.999)
        .unwrap_or(ten * 10.0)
}

impl Ranged for Marked {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "a pixel of the picture")]
    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        from + (part * f64::from(to - from)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Marked {
    fn format_ext(&self, value: &f64) -> String {
        short(match self.scale {
            Scale::Linear => *value,
            Scale::Log => 10_f64.powf(*value),
        })
    }
}

/// `1,5`, `64 K`, `1 M`: as a mark of an axis.
fn short(value: f64) -> String {
    let (value, unit) = match value.abs() {
        v if v >= 999_999.0 => (value / 1e6, " M"),
        v if v >= 9_999.0 => (value / 1e3, " K"),
        _ => (value, ""),
    };
    let digits = usize::from(value.abs() < 10.0) * 2 + usize::from(value.abs() < 0.1);
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{unit}")
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn lines<'a>(
    area: &Area<'a>,
    panel: &str,
    x: Axis,
    y: Axis,
    points: &[&Point],
    series: &[&str],
) -> Drawn<'a> {
    let across = Marked::of(points.iter().map(|point| point.x), x.scale);
    let up = Marked::of(
        points.iter().flat_map(|point| [point.low, point.high]),
        y.scale,
    );
    let place = |point: &Point, value: f64| (across.place(point.x), up.place(value));
    let placed: Vec<_> = series
        .iter()
        .map(|name| {
            let mut own: Vec<&&Point> = points
                .iter()
                .filter(|point| point.series == **name)
                .collect();
            own.sort_by(|a, b| a.x.total_cmp(&b.x));
            let each = own
                .iter()
                .map(|it| [it.low, it.median, it.high].map(|value| place(it, value)));
            each.collect::<Vec<_>>()
        })
        .collect();
    let mut chart = ChartBuilder::on(area)
        .caption(panel, (FONT, 14))
        .margin(10)
        .x_label_area_size(42)
        .y_label_area_size(62)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(x.title)
        .y_desc(y.title)
        .label_style((FONT, 12))
        .draw()?;
    for (n, placed) in placed.into_iter().enumerate() {
        let middle = placed.iter().map(|[_, middle, _]| *middle);
        chart.draw_series(std::iter::once(PathElement::new(
            middle.clone().collect::<Vec<_>>(),
            colour(n).stroke_width(2),
        )))?;
        chart.draw_series(middle.map(|at| Circle::new(at, 3, colour(n).filled())))?;
        let quartiles = placed
            .iter()
            .map(|[low, _, high]| PathElement::new(vec![*low, *high], colour(n)));
        chart.draw_series(quartiles)?;
    }
    Ok(())
}

fn bars<'a>(
    area: &Area<'a>,
    panel: &str,
    y: Axis,
    points: &[&Point],
    series: &[&str],
) -> Drawn<'a> {
    let mut labels: Vec<(f64, &str)> = points
        .iter()
        .map(|point| (point.x, &*point.label))
        .collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    labels.dedup_by(|a, b| a.1 == b.1);
    let own: Vec<usize> = (0..series.len())
        .filter(|n| {
            points
                .iter()
                .any(|point| series.get(*n).is_some_and(|name| point.series == *name))
        })
        .collect();
    let up = Marked::of(
        points.iter().flat_map(|point| [point.low, point.high]),
        y.scale,
    );
    let bottom = up.place(0.0);
    let wide = 0.8 / own.len().max(1) as f64;
    let mut drawn = Vec::new();
    for point in points {
        let group = labels.iter().position(|(_, label)| *label == point.label);
        let place = own
            .iter()
            .position(|n| series.get(*n).is_some_and(|name| point.series == *name));
        if let Some((group, place)) = group.zip(place) {
            let from = group as f64 + 0.1 + wide * place as f64;
            let heights = [point.low, point.median, point.high].map(|value| up.place(value));
            drawn.push((own.get(place).copied().unwrap_or(0), from, heights));
        }
    }
    let across = Marked {
        range: 0.0..labels.len() as f64,
        marks: (0..labels.len()).map(|n| n as f64 + 0.5).collect(),
        scale: Scale::Linear,
    };
    let longest = labels.iter().map(|(_, label)| label.chars().count()).max();
    let longest = u32::try_from(longest.unwrap_or(0)).unwrap_or(0);
    // Names that have no room beside each other stand upright.
    let is_long = longest as usize * labels.len() > 52;
    let mut chart = ChartBuilder::on(area)
        .caption(panel, (FONT, 14))
        .margin(10)
        .x_label_area_size(if is_long { 20 + 11 * longest / 2 } else { 30 })
        .y_label_area_size(62)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|_| String::new())
        .y_desc(y.title)
        .y_label_style((FONT, 12))
        .draw()?;
    let style = match is_long {
        true => TextStyle::from((FONT, 12).into_font().transform(FontTransform::Rotate90))
            .pos(Pos::new(HPos::Left, VPos::Center)),
        false => TextStyle::from((FONT, 12)).pos(Pos::new(HPos::Center, VPos::Top)),
    };
    let (left, top) = area.get_base_pixel();
    for (n, (_, label)) in labels.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(n as f64 + 0.5, bottom));
        area.draw_text(label, &style, (x - left, y - top + 8))?;
    }
    for (n, from, [low, middle, high]) in drawn {
        let bar = Rectangle::new(
            [(from, bottom), (from + wide * 0.94, middle)],
            colour(n).filled(),
        );
        chart.draw_series(std::iter::once(bar))?;
        let at = from + wide * 0.47;
        chart.draw_series(std::iter::once(PathElement::new(
            vec![(at, low), (at, high)],
            BLACK,
        )))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis {
            title: "µs", scale
        }
    }

    fn points(text: &str) -> Data {
        Data::parse(&format!(
            "# here\npanel,series,x,label,low,median,high,unit\n{text}"
        ))
        .unwrap()
    }

    #[test]
    fn a_line_passes_through_its_points_and_the_names_are_there() {
        let data = points("one CPU,zorb,1,,9,10,11,µs\none CPU,zorb,100,,18,20,21,µs\n");
        let svg = draw("Calls", axis(Scale::Log), axis(Scale::Linear), &data).unwrap();
        for part in ["Calls", "one CPU", "zorb"] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 2);
        // The second point is twice as high above the axis as the first one.
        let heights: Vec<f64> = svg
            .split("<circle ")
            .skip(1)
            .filter_map(|it| it.split("cy=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        let bottom = f64::from(TITLE + PANEL.1 - 10 - 42);
        let ratio = (bottom - heights[1]) / (bottom - heights[0]);
        assert!((ratio - 2.0).abs() < 0.05, "{heights:?}");
    }

    #[test]
    fn bars_stand_under_their_labels_one_a_series() {
        let data = points("p,a,0,read,1,1,1,%\np,b,0,read,2,2,2,%\np,a,1,write,3,3,3,%\n");
        let svg = draw("Parts", axis(Scale::Linear), axis(Scale::Linear), &data).unwrap();
        let bars =
            svg.matches("fill=\"#0072B2\"").count() + svg.matches("fill=\"#D55E00\"").count();
        // And a sign in the legend for both.
        assert_eq!(bars, 3 + 2, "{svg}");
        assert!(svg.contains("read") && svg.contains("write"));
    }

    #[test]
    fn marks_are_round_and_short() {
        let marks = |low, high, scale| Marked::of([low, high].into_iter(), scale).marks.len();
        assert!((4..=8).contains(&marks(0.0, 97.0, Scale::Linear)));
        assert!((3..=7).contains(&marks(1.0, 10_000.0, Scale::Log)));
        assert!((3..=10).contains(&marks(9.0, 14.0, Scale::Log)));
        let texts = [0.5, 1.0, 65_536.0, 1_000_000.0, 0.025].map(short);
        assert_eq!(texts, ["0.5", "1", "66 K", "1 M", "0.025"]);
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(draw("none", axis(Scale::Log), axis(Scale::Log), &points("")).is_err());
    }
}
