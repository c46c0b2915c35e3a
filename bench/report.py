"""What bench/run and bench/path write: tables as text, and a chart of each as
SVG in build/bench, for light pages and dark ones."""

import html
import math
import pathlib

OUT = pathlib.Path(__file__).resolve().parent.parent / "build" / "bench"

STYLE = """
text { font: 13px sans-serif; fill: #1b1f24 }
.title { font-size: 16px; font-weight: bold }
.heading { font-weight: bold }
.small, .tick { fill: #5b6470 }
.tick { font-size: 11px }
.page { fill: #fff }
.ours { fill: #2f6db5 }
.other { fill: #a7b0bb }
.grid { stroke: #dde1e6 }
@media (prefers-color-scheme: dark) {
 text { fill: #e4e7eb }
 .small, .tick { fill: #99a3af }
 .page { fill: #14181d }
 .ours { fill: #6aa5ec }
 .other { fill: #5c6672 }
 .grid { stroke: #2b323a }
}
"""
WIDTH, MARGIN, ROW, BAR = 760, 16, 24, 16
VALUE = 80  # for the number after a bar
LARGE = 100  # from here on without decimals; and what a linear scale can show


def number(x, digits=3):
    return "-" if x is None else f"{x:.{digits}g}" if x < LARGE else f"{x:.0f}"


def table(title, heads, rows):
    """Print one; the first column to the left, the others to the right."""
    print(title)
    widths = [max(len(str(r[i])) for r in [heads, *rows])
              for i in range(len(heads))]
    for row in [heads, *rows]:
        print("  " + "  ".join(
            str(c).ljust(w) if i == 0 else str(c).rjust(w)
            for i, (c, w) in enumerate(zip(row, widths))).rstrip())
    print(flush=True)


class Drawing:
    """Lines of an SVG file, from the top down."""

    def __init__(self, title):
        self.lines, self.y = [], MARGIN + 14
        self.title = title
        self.text(MARGIN, title, "title")
        self.y += 10

    def text(self, x, text, kind="", anchor="start", dy=0):
        self.lines.append(
            f'<text x="{x:.1f}" y="{self.y + dy}" class="{kind}" '
            f'text-anchor="{anchor}">{html.escape(text)}</text>')

    def save(self, name):
        size = f'width="{WIDTH}" height="{self.y + MARGIN}"'
        box = f'viewBox="0 0 {WIDTH} {self.y + MARGIN}"'
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{name}.svg").write_text("\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img">',
            f"<title>{html.escape(self.title)}</title>",
            f"<style>{STYLE}</style>",
            '<rect class="page" width="100%" height="100%"/>',
            *self.lines, "</svg>", ""]))


def kind_of(label):
    """Bars of other programs and machines are grey."""
    others = ("official", "mcl", "laptop", "gateway (", "tinyproxy", "haproxy",
              "seed", "Erebus")
    return "other" if label.startswith(others) else "ours"


def draw_bars(d, bars, left, top):
    for label, value in bars:
        length = max(1.5, value / top * (WIDTH - left - VALUE))
        d.y += ROW
        d.text(left - 8, label, anchor="end", dy=-4)
        d.lines.append(f'<rect class="{kind_of(label)}" x="{left}" rx="2" '
                       f'y="{d.y - BAR}" width="{length:.1f}" height="{BAR}"/>')
        d.text(left + length + 6, number(value), "small", dy=-4)


def draw_dots(d, bars, left):
    """Where values differ by orders of magnitude: a dot on a logarithmic axis,
    whose distance from the edge, unlike a bar's length, says nothing."""
    low = math.floor(math.log10(min(v for _, v in bars)))
    high = max(low + 1, math.ceil(math.log10(max(v for _, v in bars))))
    step = (WIDTH - left - VALUE) / (high - low)
    d.y += 16
    for power in range(low, high + 1):
        x = left + (power - low) * step
        d.text(x, f"{10.0 ** power:,g}" if power < 6 else f"10^{power}",
               "tick", "middle")
        d.lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" '
                       f'y1="{d.y + 5}" y2="{d.y + 5 + ROW * len(bars)}"/>')
    for label, value in bars:
        x = left + (math.log10(value) - low) * step
        d.y += ROW
        d.text(left - 8, label, anchor="end", dy=-4)
        d.lines.append(f'<circle class="{kind_of(label)}" cx="{x:.1f}" '
                       f'cy="{d.y - 8}" r="5"/>')
        d.text(x + 10, number(value), "small", dy=-4)


def chart(name, title, panels, shared=False):
    """Draw PANELS, (heading, [(label, value)]) each, below one another. Those
    without a value are left out; all have one scale if SHARED. A panel whose
    values differ by more than 100 has a logarithmic one."""
    panels = [(h, [(n, v) for n, v in bars if v]) for h, bars in panels]
    panels = [(h, bars) for h, bars in panels if bars]
    if not panels:
        return
    labels = [n for _, bars in panels for n, _ in bars]
    left = MARGIN + 16 + int(7.2 * max(map(len, labels)))
    longest = max(v for _, bars in panels for _, v in bars)
    d = Drawing(title)
    for heading, bars in panels:
        values = [v for _, v in bars]
        d.y += 22
        d.text(MARGIN, heading, "heading")
        if not shared and max(values) > LARGE * min(values):
            draw_dots(d, bars, left)
        else:
            draw_bars(d, bars, left, longest if shared else max(values))
        d.y += 4
    d.save(name)
