//! Renders the picture as HTML tables, for notebooks.
//!
//! Colours are semi-transparent, so the picture is legible on light and dark backgrounds. Moved
//! elements are also bold in the markup, because untrusted notebooks strip style sheets.

use crate::markup::escaped;
use crate::pixels::Pixels;
use crate::scene::{Block, Cell, Kind, LengthsAt, Scene};

/// All rules are scoped to one class, so they do not affect the rest of the page. The rule for `tr`
/// overrides the row stripes that notebooks give to tables.
const STYLE: &str = "\
<style>
.retrograde-picture{font:13px/1.4 ui-monospace,Menlo,Consolas,monospace;overflow-x:auto}
.retrograde-picture table{border-collapse:separate;border-spacing:3px;width:auto;margin:.3em 0}
.retrograde-picture tr{background:none!important}
.retrograde-picture caption{caption-side:top;color:inherit}
.retrograde-picture td,.retrograde-picture th,.retrograde-picture caption{\
padding:1px 7px;border:none;font-weight:normal;text-align:right;white-space:pre}
.retrograde-picture .left td{text-align:left}
.retrograde-picture .e{background:rgba(128,128,128,.14);border-radius:4px}
.retrograde-picture .m{background:rgba(56,139,253,.36)}
.retrograde-picture .p{background:rgba(128,128,128,.06);opacity:.55}
.retrograde-picture .l{color:#b0780a}
.retrograde-picture .q{opacity:.7;text-align:left}
</style>
";

impl Scene {
    /// The picture as an HTML fragment.
    pub fn html(&self) -> String {
        let description = escaped(&self.description());
        let (operator, subject) = (escaped(self.operator), escaped(&self.subject));
        let mut out = format!(
            "<div class=\"retrograde-picture\" role=\"group\" aria-label=\"{description}\">\n{STYLE}\
             <div><strong>{operator}</strong>&ensp;{subject}</div>\n"
        );
        if let Some(pixels) = &self.pixels {
            images(pixels, &mut out);
        } else if self.blocks.is_empty() {
            out.push_str("<div class=\"q\">(no elements)</div>\n");
        }
        for block in &self.blocks {
            match block {
                Some(block) => self.table(block, &mut out),
                None => out.push_str("<div class=\"q\">⋮</div>\n"),
            }
        }
        out + "</div>\n"
    }

    /// The picture as a complete HTML page.
    pub fn page(&self) -> String {
        let (title, body) = (escaped(&self.title()), self.html());
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n</head>\n\
             <body>\n{body}</body>\n</html>\n"
        )
    }

    fn table(&self, block: &Block, out: &mut String) {
        // Lengths use a column at the left. If they are above the columns, it holds their label.
        let has_gutter = matches!(self.lengths_at, LengthsAt::Rows | LengthsAt::Columns);
        let label = if self.lengths_at == LengthsAt::Rows { "len" } else { "" };
        let length = |scope: &str, text: &str| {
            format!("<th class=\"l\" scope=\"{scope}\">{}</th>", escaped(text))
        };
        let gutter = if has_gutter { length("col", label) } else { String::new() };
        let columns = self.columns.len();
        let [before, after] = ["before", "after"].map(|title| {
            format!("<th class=\"q\" scope=\"colgroup\" colspan=\"{columns}\">{title}</th>")
        });
        out.push_str(if self.is_text { "<table class=\"left\">\n" } else { "<table>\n" });
        if let Some(caption) = &block.caption {
            out.push_str(&format!("<caption class=\"q\">{}</caption>\n", escaped(caption)));
        }
        out.push_str(&format!("<tr>{gutter}{before}<td></td>{after}</tr>\n"));
        if !block.lengths.is_empty() {
            let lengths: String = block.lengths.iter().map(|text| length("col", text)).collect();
            out.push_str(&format!("<tr>{}{lengths}</tr>\n", length("row", "len")));
        }
        let middle = (block.rows.len() - 1) / 2;
        for (number, row) in block.rows.iter().enumerate() {
            let gutter = match (&row.length[..], has_gutter) {
                ("", false) => String::new(),
                ("", true) => "<td></td>".to_owned(),
                (text, _) => length("row", text),
            };
            let [before, after] =
                [&row.before, &row.after].map(|cells| cells.iter().map(cell).collect::<String>());
            let arrow = if number == middle { "→" } else { "" };
            out.push_str(&format!("<tr>{gutter}{before}<td>{arrow}</td>{after}</tr>\n"));
        }
        out.push_str("</table>\n");
    }
}

/// Both images, one beside the other.
fn images(pixels: &Pixels, out: &mut String) {
    let sizes = pixels.sizes();
    let urls = pixels.urls();
    let [before, after] = [0, 1].map(|at| {
        let ((width, height), url) = (sizes[at], &urls[at]);
        format!(
            "<td class=\"q\"><img width=\"{width}\" height=\"{height}\" alt=\"\" \
             style=\"image-rendering:pixelated\" src=\"{url}\"></td>"
        )
    });
    let [old, new] =
        ["before", "after"].map(|title| format!("<th class=\"q\" scope=\"col\">{title}</th>"));
    out.push_str(&format!(
        "<table>\n<tr>{old}<td></td>{new}</tr>\n<tr>{before}<td>→</td>{after}</tr>\n</table>\n"
    ));
    if let Some(note) = pixels.note() {
        out.push_str(&format!("<div class=\"q\">{}</div>\n", escaped(&note)));
    }
}

fn cell(cell: &Cell) -> String {
    let text = escaped(&cell.text);
    match &cell.kind {
        Kind::Blank => "<td></td>".to_owned(),
        Kind::Plain => format!("<td class=\"e\">{text}</td>"),
        Kind::Padding => format!("<td class=\"e p\">{text}</td>"),
        Kind::LeftOut => format!("<td class=\"q\">{text}</td>"),
        Kind::Moved(origin) => {
            format!("<td class=\"e m\" title=\"from {origin:?}\"><b>{text}</b></td>")
        }
    }
}
