//! Drawing one panel: its axes, and its series as lines, bars or a stack.

use crate::figures::chart::axis::{Axis, AxisSide, Scale, Span, separated};
use crate::figures::chart::draw::{FAINT, INK, failed, font, pixels};
use crate::figures::chart::legend;
use crate::figures::chart::style::{Hatch, Marker, Style};
use crate::figures::chart::{Kind, Mark, Panel, Series, Spread};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::{DashedPathElement, DynElement, IntoDynElement};
use plotters::prelude::{
    Circle, Cross, DrawingArea, DrawingBackend, EmptyElement, PathElement, Polygon, RGBColor,
    Rectangle, Text, TriangleMarker, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, ShapeStyle};

type Drawn<'a, B> = ChartContext<'a, B, Cartesian2d<Span, Span>>;
/// A position in pixels, from the left and from the top.
type Pixel = (i32, i32);
type Looks<'a> = &'a dyn Fn(&str) -> Option<Style>;

/// The share of its place that the bars of a name take.
const BARS: f64 = 0.8;
/// Bars that are as wide have room for a whisker with a light edge, and with ends too, in pixels of the SVG.
const WITH_EDGE: u32 = 8;
const WITH_ENDS: u32 = 10;
/// Half of the width of a whisker's ends at most.
const ENDS: u32 = 7;
/// How far lines on bars are apart, in pixels of the SVG.
const HATCH: u32 = 6;

/// Draws a panel into its place.
///
/// # Errors
/// The backend's.
pub(crate) fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    panel: &Panel,
    up: &Span,
    k: u32,
    looks: Looks<'_>,
) -> Result<(), String> {
    let marks = panel.series.iter().flat_map(|series| &series.marks);
    let across = panel.x.covering(marks.map(|mark| mark.x), AxisSide::Across);
    let title = font(13, k, FontStyle::Bold).color(&INK);
    let mut chart = ChartBuilder::on(area)
        .margin(8 * k)
        .margin_right(16 * k)
        .caption(&panel.title, title)
        .x_label_area_size(46 * k)
        .y_label_area_size(66 * k)
        .build_cartesian_2d(across, up.clone())
        .map_err(failed)?;
    axes(&mut chart, panel, k)?;
    match panel.kind {
        Kind::Lines => lines(area, &mut chart, panel, k, looks),
        Kind::Bars => bars(area, &mut chart, panel, up, k, looks),
        Kind::Stacked => stacked(area, &mut chart, panel, k, looks),
    }
}

fn axes<B: DrawingBackend>(chart: &mut Drawn<'_, B>, panel: &Panel, k: u32) -> Result<(), String> {
    let Axis { name, scale } = &panel.x;
    let words = font(11, k, FontStyle::Normal).color(&INK);
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(name.as_str())
        .y_desc(panel.y.name.as_str())
        .axis_desc_style(font(12, k, FontStyle::Normal).color(&INK))
        .label_style(words.clone())
        .axis_style(FAINT.stroke_width(k))
        .bold_line_style(RGBColor(205, 205, 205).stroke_width(k))
        .light_line_style(RGBColor(236, 236, 236).stroke_width(k))
        .set_all_tick_mark_size(4 * k);
    let Scale::Names(names) = scale else {
        return mesh.draw().map_err(failed);
    };
    // Names are written by us, on two lines where they have to be.
    mesh.disable_x_mesh()
        .x_label_formatter(&|_| String::new())
        .draw()
        .map_err(failed)?;
    let low = chart.plotting_area().get_y_range().start;
    let (width, _) = chart.plotting_area().dim_in_pixel();
    let count = u32::try_from(names.len().max(1)).unwrap_or(u32::MAX);
    let most = (width / count / k / 7).max(4) as usize;
    let words = words.pos(Pos::new(HPos::Center, VPos::Top));
    let lines = names.iter().enumerate().flat_map(|(n, name)| {
        let x = n as f64 + 0.5;
        let lines = legend::wrapped(&separated(name), most).into_iter();
        (0_u32..).zip(lines).map(move |(row, line)| (x, row, line))
    });
    let texts = lines.map(|(x, row, line)| {
        let below = (0, pixels((7 + 13 * row) * k));
        EmptyElement::at((x, low)) + Text::new(line, below, words.clone())
    });
    chart.draw_series(texts).map_err(failed).map(drop)
}

fn lines<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    chart: &mut Drawn<'_, B>,
    panel: &Panel,
    k: u32,
    looks: Looks<'_>,
) -> Result<(), String> {
    // Bands first, so that no line is under one.
    for series in &panel.series {
        let Some(style) = looks(&series.name) else {
            continue;
        };
        let upper = series.marks.iter().map(|mark| (mark.x, mark.high));
        let lower = series.marks.iter().rev().map(|mark| (mark.x, mark.low));
        let band = Polygon::new(
            upper.chain(lower).collect::<Vec<_>>(),
            style.color.mix(0.18),
        );
        chart.draw_series([band]).map_err(failed)?;
    }
    for series in &panel.series {
        let Some(style) = looks(&series.name) else {
            continue;
        };
        let high = |mark: &Mark| mark.p99.map(|p99| (mark.x, p99));
        let p99: Vec<_> = series.marks.iter().filter_map(high).collect();
        if p99.len() > 1 {
            let thin = style.color.mix(0.75).stroke_width(k);
            line(chart, p99.clone(), thin, style.dash, k)?;
        }
        // Lines alone would look the same in grey.
        signs(area, chart, &p99, |at| small(at, style, k))?;
    }
    for series in &panel.series {
        let Some(style) = looks(&series.name) else {
            continue;
        };
        if let [alone] = &series.marks[..] {
            // It has no band.
            let ends = vec![(alone.x, alone.low), (alone.x, alone.high)];
            line(chart, ends, style.color.stroke_width(k), None, k)?;
        }
        let middle: Vec<_> = series
            .marks
            .iter()
            .map(|mark| (mark.x, mark.value))
            .collect();
        let thick = style.color.stroke_width(thickness(k));
        if middle.len() > 1 {
            line(chart, middle.clone(), thick, style.dash, k)?;
        }
        signs(area, chart, &middle, |at| marker(at, style, k))?;
    }
    Ok(())
}

/// Draws signs at places.
fn signs<'a, B: DrawingBackend + 'a>(
    area: &DrawingArea<B, Shift>,
    chart: &Drawn<'_, B>,
    places: &[(f64, f64)],
    sign: impl Fn(Pixel) -> Vec<DynElement<'a, B, Pixel>>,
) -> Result<(), String> {
    // In pixels, since a sign has the same size wherever it is.
    let (left, top) = area.get_base_pixel();
    for place in places {
        let (x, y) = chart.backend_coord(place);
        for element in sign((x - left, y - top)) {
            area.draw(&element).map_err(failed)?;
        }
    }
    Ok(())
}

/// Of a series' line. Two pixels, and half of one more where there is half a pixel: slanted lines are drawn from
/// corners that are rounded, so that four become three, as thick as a 99th percentile's.
pub(crate) const fn thickness(k: u32) -> u32 {
    5 * k / 2
}

/// A line in a dash, if there is one.
fn line<B: DrawingBackend>(
    chart: &mut Drawn<'_, B>,
    through: Vec<(f64, f64)>,
    stroke: ShapeStyle,
    dash: Option<(u32, u32)>,
    k: u32,
) -> Result<(), String> {
    match dash {
        None => chart
            .draw_series([PathElement::new(through, stroke)])
            .map(drop),
        Some((dash, gap)) => chart
            .draw_series([DashedPathElement::new(through, dash * k, gap * k, stroke)])
            .map(drop),
    }
    .map_err(failed)
}

fn bars<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    chart: &mut Drawn<'_, B>,
    panel: &Panel,
    up: &Span,
    k: u32,
    looks: Looks<'_>,
) -> Result<(), String> {
    if up.low < 0.0 {
        level(chart, k)?;
    }
    let width = BARS / panel.series.len().max(1) as f64;
    for (n, series) in panel.series.iter().enumerate() {
        let Some(style) = looks(&series.name) else {
            continue;
        };
        for mark in &series.marks {
            let left = mark.x - BARS / 2.0 + width * n as f64;
            // The bar begins at zero, also where some values are below.
            let corners = [(left, up.low.max(0.0)), (left + width, mark.value)];
            bar(area, chart, corners, style, k)?;
            let middle = left + width / 2.0;
            whisker(chart, (left, left + width), mark, k)?;
            if let Some(p99) = mark.p99 {
                let quarter = width / 4.0;
                let ends = vec![(middle - quarter, p99), (middle + quarter, p99)];
                let line = PathElement::new(ends, style.color.stroke_width(2 * k));
                chart.draw_series([line]).map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// A line where nothing is, on an axis that goes below.
fn level<B: DrawingBackend>(chart: &mut Drawn<'_, B>, k: u32) -> Result<(), String> {
    let across = chart.plotting_area().get_x_range();
    let ends = vec![(across.start, 0.0), (across.end, 0.0)];
    line(chart, ends, FAINT.stroke_width(k), None, k)
}

/// From quartile to quartile before a bar between those ends; with a light edge where the bar has room for it, so that
/// it is seen before a dark one too.
fn whisker<B: DrawingBackend>(
    chart: &mut Drawn<'_, B>,
    (left, right): (f64, f64),
    mark: &Mark,
    k: u32,
) -> Result<(), String> {
    if !mark.is_spread() {
        return Ok(());
    }
    let pixel = |x: f64| chart.backend_coord(&(x, mark.value)).0;
    let width = pixel(right) - pixel(left);
    let has_room = |room: u32| width >= pixels(room * k);
    let middle = f64::midpoint(left, right);
    let mut paths = vec![vec![(middle, mark.low), (middle, mark.high)]];
    // The ends show the quartiles in front of a hatching.
    if has_room(WITH_ENDS) {
        let most = f64::from(ENDS * k) / f64::from(width);
        let half = (right - left) * most.min(0.25);
        paths.extend([mark.low, mark.high].map(|y| vec![(middle - half, y), (middle + half, y)]));
    }
    let of = |stroke: ShapeStyle| {
        let paths = paths.iter().cloned();
        paths.map(move |path| PathElement::new(path, stroke))
    };
    if has_room(WITH_EDGE) {
        let edge = of(WHITE.stroke_width(3 * k));
        chart.draw_series(edge).map_err(failed)?;
    }
    let ink = of(INK.stroke_width(k));
    chart.draw_series(ink).map_err(failed).map(drop)
}

fn stacked<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    chart: &mut Drawn<'_, B>,
    panel: &Panel,
    k: u32,
    looks: Looks<'_>,
) -> Result<(), String> {
    let mut tops: Vec<(f64, f64)> = Vec::new();
    for series in &panel.series {
        let Some(style) = looks(&series.name) else {
            continue;
        };
        for mark in &series.marks {
            let found = tops.iter_mut().find(|(x, _)| *x == mark.x);
            let bottom = match found {
                Some((_, top)) => std::mem::replace(top, *top + mark.value),
                None => {
                    tops.push((mark.x, mark.value));
                    0.0
                }
            };
            let (left, right) = (mark.x - BARS / 2.0, mark.x + BARS / 2.0);
            bar(
                area,
                chart,
                [(left, bottom), (right, bottom + mark.value)],
                style,
                k,
            )?;
        }
    }
    match &panel.spread {
        Spread::None => Ok(()),
        Spread::Whole(whole) => whole.iter().try_for_each(|mark| {
            whisker(chart, (mark.x - BARS / 2.0, mark.x + BARS / 2.0), mark, k)
        }),
        Spread::Ends { first, whole } => {
            let third = BARS / 3.0;
            let mut all = first.iter().map(|mark| (mark.x - third, mark));
            let whole = whole.iter().map(|mark| (mark.x, mark));
            all.by_ref()
                .chain(whole)
                .try_for_each(|(left, mark)| whisker(chart, (left, left + third), mark, k))
        }
        Spread::Parts => part_whiskers(&panel.series)
            .iter()
            .try_for_each(|(ends, mark)| whisker(chart, *ends, mark, k)),
    }
}

/// The quartiles of every part of a stack, at its upper end; each part's at a place of its own from left to right, as
/// those of thin parts would lie on each other. The medians of the parts need not add up, so that these may go beyond
/// the whole.
pub(crate) fn part_whiskers(all: &[Series]) -> Vec<((f64, f64), Mark)> {
    let width = BARS / all.len().max(1) as f64;
    let mut tops: Vec<(f64, f64)> = Vec::new();
    let mut whiskers = Vec::new();
    for (n, series) in all.iter().enumerate() {
        for mark in &series.marks {
            let top = match tops.iter_mut().find(|(x, _)| *x == mark.x) {
                Some((_, top)) => {
                    *top += mark.value;
                    *top
                }
                None => {
                    tops.push((mark.x, mark.value));
                    mark.value
                }
            };
            let left = mark.x - BARS / 2.0 + width * n as f64;
            let moved = Mark {
                value: top,
                low: top + mark.low - mark.value,
                high: top + mark.high - mark.value,
                ..*mark
            };
            whiskers.push(((left, left + width), moved));
        }
    }
    whiskers
}

fn bar<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    chart: &mut Drawn<'_, B>,
    corners: [(f64, f64); 2],
    style: Style,
    k: u32,
) -> Result<(), String> {
    // In pixels, since lines on it are as far apart wherever it is.
    let (left, top) = area.get_base_pixel();
    let corners = corners.map(|corner| {
        let (x, y) = chart.backend_coord(&corner);
        (x - left, y - top)
    });
    filled(area, corners, style, k)
}

/// A rectangle in a series' colour and hatching.
pub(crate) fn filled<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    corners: [Pixel; 2],
    style: Style,
    k: u32,
) -> Result<(), String> {
    let inside = Rectangle::new(corners, style.color.filled());
    area.draw(&inside).map_err(failed)?;
    // Dark on light, and light on dark.
    let on_it = if style.grey() < 130.0 { WHITE } else { INK };
    for ends in hatching(corners, style.hatch, pixels(HATCH * k)) {
        let line = PathElement::new(ends.to_vec(), on_it.mix(0.8).stroke_width(k));
        area.draw(&line).map_err(failed)?;
    }
    let border = Rectangle::new(corners, INK.stroke_width(k));
    area.draw(&border).map_err(failed)
}

/// The lines of a hatching inside of a rectangle, so far apart.
fn hatching([a, b]: [Pixel; 2], hatch: Hatch, step: i32) -> Vec<[Pixel; 2]> {
    let (left, right) = (a.0.min(b.0), a.0.max(b.0));
    let (top, bottom) = (a.1.min(b.1), a.1.max(b.1));
    // Multiples of the step, so that the lines of bars beside each other meet.
    let between = |from: i32, to: i32| {
        let first = from.div_euclid(step) + 1;
        (first..)
            .map(move |n| n * step)
            .take_while(move |at| *at < to)
    };
    let rising = || {
        between(left + top, right + bottom).map(|sum| {
            let (start, end) = (left.max(sum - bottom), right.min(sum - top));
            [(start, sum - start), (end, sum - end)]
        })
    };
    let falling = || {
        between(left - bottom, right - top).map(|rest| {
            let (start, end) = (left.max(rest + top), right.min(rest + bottom));
            [(start, start - rest), (end, end - rest)]
        })
    };
    match hatch {
        Hatch::None => Vec::new(),
        Hatch::Rising => rising().collect(),
        Hatch::Falling => falling().collect(),
        Hatch::Level => between(top, bottom)
            .map(|y| [(left, y), (right, y)])
            .collect(),
        Hatch::Upright => between(left, right)
            .map(|x| [(x, top), (x, bottom)])
            .collect(),
        Hatch::Crossed => rising().chain(falling()).collect(),
    }
}

/// The sign at a point.
pub(crate) fn marker<'a, B>(at: Pixel, style: Style, k: u32) -> Vec<DynElement<'a, B, Pixel>>
where
    B: DrawingBackend + 'a,
{
    let filled = style.color.filled();
    let half = pixels(4 * k);
    let square = |half: i32| [(-half, -half), (half, half)];
    let diamond = |wide: i32| vec![(0, -wide), (wide, 0), (0, wide), (-wide, 0)];
    match style.marker {
        Marker::Circle => vec![Circle::new(at, half, filled).into_dyn()],
        Marker::Triangle => vec![TriangleMarker::new(at, half + pixels(k), filled).into_dyn()],
        Marker::Cross => vec![Cross::new(at, half, style.color.stroke_width(2 * k)).into_dyn()],
        Marker::Ring => vec![
            Circle::new(at, half, WHITE.filled()).into_dyn(),
            Circle::new(at, half, style.color.stroke_width(2 * k)).into_dyn(),
        ],
        Marker::Square => {
            let square = EmptyElement::at(at) + Rectangle::new(square(half), filled);
            vec![square.into_dyn()]
        }
        Marker::Box => {
            let outside = EmptyElement::at(at) + Rectangle::new(square(half), filled);
            let inside = square(half - pixels(2 * k));
            let inside = EmptyElement::at(at) + Rectangle::new(inside, WHITE.filled());
            vec![outside.into_dyn(), inside.into_dyn()]
        }
        Marker::Diamond => {
            let wide = half + pixels(k);
            let diamond = EmptyElement::at(at) + Polygon::new(diamond(wide), style.color);
            vec![diamond.into_dyn()]
        }
        Marker::Kite => {
            let wide = half + pixels(2 * k);
            let outside = EmptyElement::at(at) + Polygon::new(diamond(wide), style.color);
            let inside = diamond(wide - pixels(3 * k));
            let inside = EmptyElement::at(at) + Polygon::new(inside, WHITE);
            vec![outside.into_dyn(), inside.into_dyn()]
        }
    }
}

/// The sign of a 99th percentile: the series' own, small and open.
fn small<'a, B>(at: Pixel, style: Style, k: u32) -> Vec<DynElement<'a, B, Pixel>>
where
    B: DrawingBackend + 'a,
{
    let half = pixels(3 * k);
    let closed = |corners: &[Pixel]| {
        let outside = EmptyElement::at(at) + Polygon::new(corners.to_vec(), WHITE);
        let ends = [corners, &corners[..1]].concat();
        let edge = EmptyElement::at(at) + PathElement::new(ends, style.color.stroke_width(k));
        vec![outside.into_dyn(), edge.into_dyn()]
    };
    match style.marker {
        Marker::Circle | Marker::Ring => vec![
            Circle::new(at, half, WHITE.filled()).into_dyn(),
            Circle::new(at, half, style.color.stroke_width(k)).into_dyn(),
        ],
        Marker::Cross => vec![Cross::new(at, half, style.color.stroke_width(k)).into_dyn()],
        Marker::Triangle => closed(&[(0, -half), (half, half), (-half, half)]),
        Marker::Square | Marker::Box => {
            closed(&[(-half, -half), (half, -half), (half, half), (-half, half)])
        }
        Marker::Diamond | Marker::Kite => {
            let wide = half + pixels(k);
            closed(&[(0, -wide), (wide, 0), (0, wide), (-wide, 0)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whisker_of_a_part_is_where_that_part_ends() {
        let part = |name: &str, value, low, high| Series {
            name: name.to_owned(),
            marks: vec![Mark {
                x: 0.5,
                value,
                low,
                high,
                p99: None,
                rounds: 5,
            }],
        };
        let parts = [part("one", 60.0, 55.0, 62.0), part("two", 30.0, 29.0, 33.0)];
        let whiskers = part_whiskers(&parts);
        let ends = |n: usize| (whiskers[n].1.low, whiskers[n].1.high);
        assert_eq!((ends(0), ends(1)), ((55.0, 62.0), (89.0, 93.0)));
        // Beside each other.
        assert!(whiskers[0].0.1 <= whiskers[1].0.0);
    }

    #[test]
    fn a_hatching_stays_inside_of_its_bar() {
        let corners = [(13, 90), (41, 20)];
        let all = [
            Hatch::Rising,
            Hatch::Falling,
            Hatch::Level,
            Hatch::Upright,
            Hatch::Crossed,
        ];
        for hatch in all {
            let lines = hatching(corners, hatch, 6);
            assert!(lines.len() > 3, "{hatch:?}");
            for (x, y) in lines.into_iter().flatten() {
                let inside = (13..=41).contains(&x) && (20..=90).contains(&y);
                assert!(inside, "{hatch:?} {x} {y}");
            }
        }
        assert!(hatching(corners, Hatch::None, 6).is_empty());
        // A bar of nothing has no lines.
        assert!(hatching([(13, 20), (13, 20)], Hatch::Crossed, 6).is_empty());
    }
}
