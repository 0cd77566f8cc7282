"""The picture as tables of HTML, for notebooks.

Styles are in the elements and colours are half transparent on whatever is behind: it is legible on
light and on dark, and where a notebook that is not trusted has its style sheets taken out.
"""

from html import escape

from .blocks import LEFT_OUT, MOVED, PADDING, PLAIN

_CELL = "padding:1px 7px;border:2px solid transparent;background-clip:padding-box;border-radius:5px;"
_STYLES = {
    PLAIN: _CELL + "background-color:rgba(128,128,128,.14)",
    MOVED: _CELL + "background-color:rgba(56,139,253,.34);font-weight:600",
    PADDING: _CELL + "background-color:rgba(128,128,128,.06);opacity:.55",
    LEFT_OUT: _CELL + "opacity:.7",
}
_LENGTH = "padding:1px 7px;color:#b0780a;font-weight:normal"
_QUIET = "padding:1px 7px;opacity:.7;font-weight:normal;text-align:left"
_TABLE = "border-collapse:separate;border-spacing:0;width:auto;margin:.3em 0"
_FONT = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;line-height:1.4;overflow-x:auto"


def draw(scene, description):
    parts = [
        f'<div style="{_FONT}" role="group" aria-label="{escape(description)}">\n'
        f"<div><strong>{escape(scene.operator)}</strong>&ensp;{escape(scene.subject)}</div>\n"
    ]
    if not scene.blocks:
        parts.append('<div style="opacity:.7">(no elements)</div>\n')
    align = "left" if scene.is_text else "right"
    for block in scene.blocks:
        mark = '<div style="opacity:.7">⋮</div>\n'
        parts.append(_table(block, scene.lengths_at, align) if block else mark)
    return "".join([*parts, "</div>\n"])


def document(scene, description):
    """As a page of its own."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(f'{scene.operator}  {scene.subject}')}</title>\n</head>\n<body>\n"
        f"{draw(scene, description)}</body>\n</html>\n"
    )


def _table(block, at, align):
    columns = len(block.rows[0].before)
    # Where no row has a length, the column of lengths has nothing in it.
    has_gutter = at in ("rows", "columns")
    caption = f'<caption style="{_QUIET}">{escape(block.caption)}</caption>' if block.caption else ""
    gutter = f'<th style="{_LENGTH}" scope="col">{"len" if at == "rows" else ""}</th>' if has_gutter else ""
    lines = [
        f'<table style="{_TABLE}">{caption}',
        f'<tr style="background:none">{gutter}<th style="{_QUIET}" scope="colgroup" colspan="{columns}">before</th>'
        f'<td></td><th style="{_QUIET}" scope="colgroup" colspan="{columns}">after</th></tr>',
    ]
    if block.lengths:
        lengths = "".join(
            f'<th style="{_LENGTH};text-align:{align}" scope="col">{escape(length.text)}</th>'
            for length in block.lengths
        )
        lines.append(f'<tr style="background:none"><th style="{_LENGTH}" scope="row">len</th>{lengths}</tr>')
    middle = (len(block.rows) - 1) // 2
    for number, row in enumerate(block.rows):
        tag = "th" if row.length else "td"
        scope = ' scope="row"' if row.length else ""
        length = f'<{tag} style="{_LENGTH};text-align:right"{scope}>{row.length}</{tag}>' if has_gutter else ""
        before = "".join(_cell(cell, align) for cell in row.before)
        after = "".join(_cell(cell, align) for cell in row.after)
        arrow = f'<td style="padding:1px 12px">{"→" if number == middle else ""}</td>'
        lines.append(f'<tr style="background:none">{length}{before}{arrow}{after}</tr>')
    return "\n".join([*lines, "</table>\n"])


def _cell(cell, align):
    title = "" if cell.origin is None else f' title="from {list(cell.origin)}"'
    # Spaces at the ends and in a row count, as in the text.
    style = f"{_STYLES[cell.kind]};text-align:{align};white-space:pre"
    return f'<td style="{style}"{title}>{escape(cell.text)}</td>'
