"""The picture as tables of HTML, for notebooks.

Colours are half transparent on whatever is behind, so it is legible on light and on dark. What moved
is bold in the markup too: a notebook that is not trusted has its style sheets taken out.
"""

from html import escape

from .blocks import LEFT_OUT, MOVED, PADDING, PLAIN

_CLASSES = {PLAIN: "e", MOVED: "e m", PADDING: "e p", LEFT_OUT: "q"}

#: Under one class, so that nothing else on the page changes; notebooks stripe the rows of tables.
_STYLE = """\
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
"""


def draw(scene, description):
    parts = [
        f'<div class="retrograde-picture" role="group" aria-label="{escape(description)}">\n{_STYLE}'
        f"<div><strong>{escape(scene.operator)}</strong>&ensp;{escape(scene.subject)}</div>\n"
    ]
    if not scene.blocks:
        parts.append('<div class="q">(no elements)</div>\n')
    for block in scene.blocks:
        parts.append(_table(block, scene) if block else '<div class="q">⋮</div>\n')
    return "".join([*parts, "</div>\n"])


def document(scene, description):
    """As a page of its own."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(f'{scene.operator}  {scene.subject}')}</title>\n</head>\n<body>\n"
        f"{draw(scene, description)}</body>\n</html>\n"
    )


def _table(block, scene):
    # Lengths have a column at the left; where they stand above the columns, it has their title.
    has_gutter = scene.lengths_at in ("rows", "columns")
    label = "len" if scene.lengths_at == "rows" else ""
    gutter = f'<th class="l" scope="col">{label}</th>' if has_gutter else ""
    before, after = (
        f'<th class="q" scope="colgroup" colspan="{len(scene.columns)}">{title}</th>'
        for title in ("before", "after")
    )
    lines = [
        '<table class="left">' if scene.is_text else "<table>",
        f'<caption class="q">{escape(block.caption)}</caption>' if block.caption else "",
        f"<tr>{gutter}{before}<td></td>{after}</tr>",
    ]
    if block.lengths:
        lengths = (f'<th class="l" scope="col">{escape(length.text)}</th>' for length in block.lengths)
        lines.append(f'<tr><th class="l" scope="row">len</th>{"".join(lengths)}</tr>')
    middle = (len(block.rows) - 1) // 2
    for number, row in enumerate(block.rows):
        gutter = "<td></td>" if has_gutter else ""
        if row.length:
            gutter = f'<th class="l" scope="row">{row.length}</th>'
        before, after = ("".join(map(_cell, cells)) for cells in (row.before, row.after))
        arrow = "→" if number == middle else ""
        lines.append(f"<tr>{gutter}{before}<td>{arrow}</td>{after}</tr>")
    return "\n".join([*filter(None, lines), "</table>\n"])


def _cell(cell):
    text, title = escape(cell.text), ""
    if cell.kind == MOVED:
        text, title = f"<b>{text}</b>", f' title="from {list(cell.origin)}"'
    return f'<td class="{_CLASSES[cell.kind]}"{title}>{text}</td>'
