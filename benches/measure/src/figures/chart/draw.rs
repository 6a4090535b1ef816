//! The layout of a picture: a title, panels in rows, the legend below them, and what it was measured on.

use crate::figures::chart::axis::AxisSide;
use crate::figures::chart::axis::Scale;
use crate::figures::chart::legend::{self, LegendPlace};
use crate::figures::chart::style::{self, Style};
use crate::figures::chart::{Chart, Kind, Panel, Spread, panel};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::{
    DrawingArea, DrawingBackend, IntoDrawingArea, PathElement, RGBColor, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, IntoTextStyle, TextStyle};

/// The family of every text.
pub(crate) const FONT: &str = "sans-serif";

const TITLE: u32 = 34;
/// Sizes of a title: as large as there is room for.
const LARGEST_TITLE: u32 = 17;
const SMALLEST_TITLE: u32 = 11;
const PANEL_HEIGHT: u32 = 360;
/// A panel alone, and one beside another.
const PANEL_WIDTHS: [u32; 2] = [800, 580];
/// One of several below each other.
const WHOLE_WIDTH: u32 = 1160;
const LEGEND_ROW: u32 = 22;
const CAPTION_ROW: u32 = 15;
const MARGIN: u32 = 12;
/// A piece of line in front of a name in the legend, long enough for the longest dash, and what is between.
const SAMPLE: u32 = 62;
const GAP: u32 = 24;

pub(crate) const INK: RGBColor = RGBColor(30, 30, 30);
pub(crate) const FAINT: RGBColor = RGBColor(95, 95, 95);

/// A font at a size in pixels of the SVG, times the sharpness.
pub(crate) fn font(size: u32, sharpness: u32, style: FontStyle) -> FontDesc<'static> {
    FontDesc::new(FontFamily::SansSerif, f64::from(size * sharpness), style)
}

/// A text whose place is at its top, to the right of it.
fn text(size: u32, sharpness: u32, color: RGBColor) -> TextStyle<'static> {
    font(size, sharpness, FontStyle::Normal).color(&color)
}

/// The layout, in pixels.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) sharpness: u32,
    columns: usize,
    rows: usize,
    panel_width: u32,
    /// The style of every series.
    looks: Vec<(String, Style)>,
    /// The entries of the legend: name, style, whether it has a line, and its place.
    entries: Vec<(String, Style, bool, LegendPlace)>,
    legend_rows: u32,
    notes: Vec<String>,
    title_size: u32,
}

impl Layout {
    /// Lays out a chart with a caption.
    ///
    /// # Errors
    /// The font has not been registered.
    pub(crate) fn of(chart: &Chart, caption: &str, sharpness: u32) -> Result<Self, String> {
        let (rows, columns) = chart.grid();
        let panel_width = match (rows, columns) {
            (2.., 1) => WHOLE_WIDTH,
            (_, 1) => PANEL_WIDTHS[0],
            _ => PANEL_WIDTHS[1],
        } * sharpness;
        let width = panel_width * u32::try_from(columns).unwrap_or(1);
        let names = chart.names();
        // One alone needs no name of its own: the title and the axes say what it is.
        let shown = if names.len() == 1 {
            &[][..]
        } else {
            &names[..]
        };
        let styles = style::of(&names);
        let mut widths = Vec::new();
        for name in shown {
            let size = font(12, sharpness, FontStyle::Normal).box_size(name);
            widths.push(size.map_err(|e| e.to_string())?.0 + SAMPLE * sharpness);
        }
        let places = legend::places(&widths, GAP * sharpness, width - 2 * MARGIN * sharpness);
        let legend_rows = places.last().map_or(0, |place| place.row + 1);
        let characters = (width / sharpness / 5) as usize;
        let mut notes = legend::wrapped(&signs(chart), characters);
        notes.extend(legend::wrapped(caption, characters));
        let room = width - 2 * MARGIN * sharpness;
        let mut title_size = LARGEST_TITLE;
        while title_size > SMALLEST_TITLE {
            let size = font(title_size, sharpness, FontStyle::Bold).box_size(&chart.title);
            if size.map_err(|e| e.to_string())?.0 <= room {
                break;
            }
            title_size -= 1;
        }
        let looks = names
            .iter()
            .map(|name| (*name).to_owned())
            .zip(styles.iter().copied());
        let entries = shown.iter().zip(styles.iter().copied()).zip(places);
        Ok(Self {
            sharpness,
            columns,
            rows,
            panel_width,
            entries: entries
                .map(|((name, style), place)| {
                    ((*name).to_owned(), style, !chart.is_dot(name), place)
                })
                .collect(),
            looks: looks.collect(),
            legend_rows: u32::try_from(legend_rows).unwrap_or(u32::MAX),
            notes,
            title_size,
        })
    }

    /// The size of the whole picture.
    pub(crate) fn size(&self) -> (u32, u32) {
        let below = self.legend_rows * LEGEND_ROW
            + u32::try_from(self.notes.len()).unwrap_or(0) * CAPTION_ROW
            + MARGIN;
        let columns = u32::try_from(self.columns).unwrap_or(1);
        (
            self.panel_width * columns,
            self.panels_end() + below * self.sharpness,
        )
    }

    fn panels_end(&self) -> u32 {
        let rows = u32::try_from(self.rows).unwrap_or(1);
        (TITLE + rows * PANEL_HEIGHT) * self.sharpness
    }

    fn style(&self, name: &str) -> Option<Style> {
        let found = self.looks.iter().find(|(n, _)| n == name);
        found.map(|(_, style)| *style)
    }
}

/// The explanation of a chart's lines and bars.
fn signs(chart: &Chart) -> String {
    let marks = |panel: &'_ Panel| {
        let marks = panel.series.iter().flat_map(|series| &series.marks);
        let (mut spread, mut p99) = (false, false);
        for mark in marks {
            spread |= mark.low < mark.high;
            p99 |= mark.p99.is_some();
        }
        (panel.kind, spread, p99)
    };
    let all: Vec<_> = chart.panels.iter().map(marks).collect();
    let any = |kind, what: fn(&(Kind, bool, bool)) -> bool| {
        all.iter().any(|panel| panel.0 == kind && what(panel))
    };
    let mut words = Vec::new();
    if any(Kind::Lines, |panel| panel.1) {
        words.push("line: median of the rounds; band: their quartiles");
    }
    if any(Kind::Lines, |panel| panel.2) {
        words.push("thin line and small open signs: 99th percentile");
    }
    let shows = |what: fn(&Spread) -> bool| {
        let mut panels = chart.panels.iter();
        panels.any(|panel| what(&panel.spread) && panel.shows_spread())
    };
    if shows(|spread| matches!(spread, Spread::Whole(_))) {
        words.push("whisker: quartiles of the whole over the rounds");
    }
    if shows(|spread| matches!(spread, Spread::Ends { .. })) {
        words.push(
            "medians of the rounds; whiskers: quartiles, on the left of the lowest part, on the right of the whole",
        );
    }
    if shows(|spread| *spread == Spread::Parts) {
        words.push(
            "parts: medians of the rounds; whisker at the upper end of a part: quartiles of that part",
        );
    }
    let together = together(chart);
    words.extend(together.as_deref());
    if any(Kind::Bars, |panel| panel.1) {
        words.push("bar: median of the rounds; whisker: their quartiles");
    }
    if any(Kind::Bars, |panel| panel.2) {
        words.push("short line above a bar: 99th percentile");
    }
    let by_length = |panel: &Panel| panel.kind == Kind::Bars && panel.y.scale != Scale::Linear;
    if chart.panels.iter().any(by_length) {
        words.push("on this logarithmic scale a bar's end shows its value, its length does not");
    }
    if chart.has_scales() {
        words.push("panels whose values are far apart have scales of their own");
    }
    words.extend(chart.notes.iter().map(String::as_str));
    words.join("; ")
}

/// The sum of the parts, where that is not the whole.
fn together(chart: &Chart) -> Option<String> {
    let of_a_whole = chart.panels.iter().filter(|panel| panel.y.is_of_a_whole());
    let stacks = of_a_whole.filter(|panel| panel.kind == Kind::Stacked);
    let sums: Vec<f64> = stacks.flat_map(Panel::sums).collect();
    let least = sums.iter().copied().reduce(f64::min)?.round();
    let most = sums.iter().copied().reduce(f64::max)?.round();
    // Or they are not meant to.
    let are_whole = least >= 90.0;
    (are_whole && (least, most) != (100.0, 100.0)).then(|| {
        format!("each median is one for itself, so that parts come to {least} to {most} %")
    })
}

/// The error of a backend.
pub(crate) fn failed(error: impl std::error::Error) -> String {
    format!("drawing: {error}")
}

/// Draws the whole picture.
///
/// # Errors
/// The backend's.
pub(crate) fn draw<B: DrawingBackend>(
    backend: B,
    chart: &Chart,
    layout: &Layout,
) -> Result<(), String> {
    let all = backend.into_drawing_area();
    all.fill(&WHITE).map_err(failed)?;
    let k = layout.sharpness;
    let (width, _) = layout.size();
    let title = font(layout.title_size, k, FontStyle::Bold)
        .color(&INK)
        .pos(Pos::new(HPos::Center, VPos::Top));
    all.draw_text(&chart.title, &title, (pixels(width / 2), pixels(10 * k)))
        .map_err(failed)?;
    let (head, rest) = all.split_vertically(layout.panels_end());
    let (_, panels) = head.split_vertically(TITLE * k);
    let places = panels.split_evenly((layout.rows, layout.columns));
    for (panel, place) in chart.panels.iter().zip(&places) {
        let up = panel.y.covering(chart.heights_beside(panel), AxisSide::Up);
        panel::draw(place, panel, &up, k, &|name| layout.style(name))?;
    }
    below(&rest, layout, chart.panels.first().map(|panel| panel.kind))?;
    all.present().map_err(failed)
}

/// The legend and the notes.
fn below<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    layout: &Layout,
    kind: Option<Kind>,
) -> Result<(), String> {
    let k = layout.sharpness;
    for (name, style, has_line, place) in &layout.entries {
        let row = u32::try_from(place.row).unwrap_or(0);
        let left = pixels(place.left + MARGIN * k);
        let middle = pixels((row * LEGEND_ROW + LEGEND_ROW / 2) * k);
        sample(area, *style, (kind, *has_line), (left, middle), k)?;
        let at = (left + pixels(SAMPLE * k), middle);
        let words = text(12, k, INK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(name.as_str(), at, words))
            .map_err(failed)?;
    }
    let top = (layout.legend_rows * LEGEND_ROW + 4) * k;
    for (row, note) in (0_u32..).zip(&layout.notes) {
        let at = (pixels(MARGIN * k), pixels(top + row * CAPTION_ROW * k));
        let words = Text::new(note.as_str(), at, text(10, k, FAINT).into_text_style(area));
        area.draw(&words).map_err(failed)?;
    }
    Ok(())
}

/// The sample before a name.
fn sample<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    style: Style,
    (kind, has_line): (Option<Kind>, bool),
    (left, middle): (i32, i32),
    k: u32,
) -> Result<(), String> {
    let right = left + pixels((SAMPLE - 8) * k);
    if kind != Some(Kind::Lines) {
        let half = pixels(6 * k);
        let corners = [(right - 3 * half, middle - half), (right, middle + half)];
        return panel::filled(area, corners, style, k);
    }
    let line = style.color.stroke_width(panel::thickness(k));
    let ends = vec![(left, middle), (right, middle)];
    match style.dash {
        _ if !has_line => Ok(()),
        None => area.draw(&PathElement::new(ends, line)),
        Some((dash, gap)) => area.draw(&DashedPathElement::new(ends, dash * k, gap * k, line)),
    }
    .map_err(failed)?;
    let at = (i32::midpoint(left, right), middle);
    for element in panel::marker(at, style, k) {
        area.draw(&element).map_err(failed)?;
    }
    Ok(())
}

/// The number of pixels in the type that plotters uses.
pub(crate) fn pixels(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
