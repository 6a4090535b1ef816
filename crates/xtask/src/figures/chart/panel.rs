//! Drawing one panel: its axes, and its series as lines, bars or a stack.

use crate::figures::chart::axis::{Axis, Scale, Side, Span};
use crate::figures::chart::draw::{FAINT, INK, failed, font, pixels};
use crate::figures::chart::legend;
use crate::figures::chart::style::{Marker, Style};
use crate::figures::chart::{Kind, Mark, Panel};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::{DashedPathElement, DynElement, IntoDynElement};
use plotters::prelude::{
    Circle, Cross, DrawingArea, DrawingBackend, EmptyElement, PathElement, Polygon, RGBColor,
    Rectangle, Text, TriangleMarker, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle};

type Drawn<'a, B> = ChartContext<'a, B, Cartesian2d<Span, Span>>;
/// From left and from top.
type Pixel = (i32, i32);
type Looks<'a> = &'a dyn Fn(&str) -> Option<Style>;

/// What part of its place the bars of a name take.
const BARS: f64 = 0.8;

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
    let across = panel.x.covering(marks.map(|mark| mark.x), Side::Across);
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
        Kind::Bars => bars(&mut chart, panel, up, k, looks),
        Kind::Stacked => stacked(&mut chart, panel, k, looks),
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
        let lines = legend::wrapped(name, most).into_iter();
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
            chart
                .draw_series([PathElement::new(p99, thin)])
                .map_err(failed)?;
        }
        let middle: Vec<_> = series
            .marks
            .iter()
            .map(|mark| (mark.x, mark.value))
            .collect();
        let line = style.color.stroke_width(2 * k);
        match style.dash {
            None => chart
                .draw_series([PathElement::new(middle.clone(), line)])
                .map(drop),
            Some((dash, gap)) => chart
                .draw_series([DashedPathElement::new(
                    middle.clone(),
                    dash * k,
                    gap * k,
                    line,
                )])
                .map(drop),
        }
        .map_err(failed)?;
        // In pixels, since a sign has the same size wherever it is.
        let (left, top) = area.get_base_pixel();
        for place in middle {
            let (x, y) = chart.backend_coord(&place);
            for element in marker((x - left, y - top), style, k) {
                area.draw(&element).map_err(failed)?;
            }
        }
    }
    Ok(())
}

fn bars<B: DrawingBackend>(
    chart: &mut Drawn<'_, B>,
    panel: &Panel,
    up: &Span,
    k: u32,
    looks: Looks<'_>,
) -> Result<(), String> {
    let width = BARS / panel.series.len().max(1) as f64;
    for (n, series) in panel.series.iter().enumerate() {
        let Some(style) = looks(&series.name) else {
            continue;
        };
        for mark in &series.marks {
            let left = mark.x - BARS / 2.0 + width * n as f64;
            // From nothing, also where some are less than that.
            let corners = [(left, up.low.max(0.0)), (left + width, mark.value)];
            bar(chart, corners, style, k)?;
            let middle = left + width / 2.0;
            let dark = INK.stroke_width(k);
            let whisker = PathElement::new(vec![(middle, mark.low), (middle, mark.high)], dark);
            chart.draw_series([whisker]).map_err(failed)?;
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

fn stacked<B: DrawingBackend>(
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
                chart,
                [(left, bottom), (right, bottom + mark.value)],
                style,
                k,
            )?;
        }
    }
    Ok(())
}

fn bar<B: DrawingBackend>(
    chart: &mut Drawn<'_, B>,
    corners: [(f64, f64); 2],
    style: Style,
    k: u32,
) -> Result<(), String> {
    let inside = Rectangle::new(corners, style.color.filled());
    let border = Rectangle::new(corners, INK.stroke_width(k));
    chart
        .draw_series([inside, border])
        .map_err(failed)
        .map(drop)
}

/// The sign at a point.
pub(crate) fn marker<'a, B>(at: Pixel, style: Style, k: u32) -> Vec<DynElement<'a, B, Pixel>>
where
    B: DrawingBackend + 'a,
{
    let filled = style.color.filled();
    let half = pixels(4 * k);
    match style.marker {
        Marker::Circle => vec![Circle::new(at, half, filled).into_dyn()],
        Marker::Triangle => vec![TriangleMarker::new(at, half + pixels(k), filled).into_dyn()],
        Marker::Cross => vec![Cross::new(at, half, style.color.stroke_width(2 * k)).into_dyn()],
        Marker::Ring => vec![
            Circle::new(at, half, WHITE.filled()).into_dyn(),
            Circle::new(at, half, style.color.stroke_width(2 * k)).into_dyn(),
        ],
        Marker::Square => {
            let corners = [(-half, -half), (half, half)];
            let square = EmptyElement::at(at) + Rectangle::new(corners, filled);
            vec![square.into_dyn()]
        }
        Marker::Diamond => {
            let wide = half + pixels(k);
            let corners = vec![(0, -wide), (wide, 0), (0, wide), (-wide, 0)];
            let diamond = EmptyElement::at(at) + Polygon::new(corners, style.color);
            vec![diamond.into_dyn()]
        }
    }
}
