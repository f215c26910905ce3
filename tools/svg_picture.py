# SPDX-License-Identifier: Apache-2.0
"""Small pictures of panels with axes, lines and points as SVG, for a light and a dark page."""

import html
import math

STYLE = """
    .page { fill: #ffffff } .frame { fill: none; stroke: #9aa4b5 } .grid { stroke: #e4e8ef }
    text { fill: #33415c } .head { font-weight: 600; fill: #16213a }
    .a { fill: #2166ac } .b { fill: #d6604d } .c { fill: #1b7f5c } .d { fill: #7a52b3 }
    .line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
    .line.a { stroke: #2166ac } .line.b { stroke: #d6604d } .line.c { stroke: #1b7f5c } .line.d { stroke: #7a52b3 }
    .line.n { stroke: #5b677d; stroke-width: 1.2 } .dashed { stroke-dasharray: 5 3 } .dotted { stroke-dasharray: 1.5 3 }
    .point { stroke: #ffffff; stroke-width: 0.7 } .mark { fill: none; stroke: #16213a; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
      .page { fill: #12161f } .frame { stroke: #5b677d } .grid { stroke: #262d3a }
      text { fill: #c3ccda } .head { fill: #eef2f8 }
      .a { fill: #6cb0f0 } .b { fill: #f4917f } .c { fill: #5fd0a5 } .d { fill: #bd9bf0 }
      .line.a { stroke: #6cb0f0 } .line.b { stroke: #f4917f } .line.c { stroke: #5fd0a5 } .line.d { stroke: #bd9bf0 }
      .line.n { stroke: #9aa4b5 } .point { stroke: #12161f } .mark { stroke: #eef2f8 }
    }
"""
LEFT, TOP, BOTTOM, GAP = 12, 34, 30, 16


def nice_ticks(low, high, most=5):
    """Round numbers between the two."""
    span = high - low
    step = next(step for step in (m * 10.0**e for e in range(-12, 13) for m in (1, 2, 5)) if span / step <= most)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def number(x):
    return f"{x:.1f}".rstrip("0").rstrip(".").replace("-0", "0") if abs(x) < 0.05 else f"{x:.1f}".removesuffix(".0")


class Panel:
    """A box of its own coordinates; what is outside of them is cut off."""

    def __init__(self, title, size, low, high, below="", ticks=False, labels=None, side_labels=None):
        self.title, self.below, self.ticks = title, below, ticks
        self.labels, self.side_labels = labels or {}, side_labels or {}  # place -> text; none: round numbers
        self.width, self.height = size
        self.low, self.high = low, high
        self.inside = []

    def x(self, x):
        return (x - self.low[0]) / (self.high[0] - self.low[0]) * self.width

    def y(self, y):
        return (self.high[1] - y) / (self.high[1] - self.low[1]) * self.height

    def line(self, points, kind):
        path = "M" + "L".join(f"{number(self.x(x))} {number(self.y(y))}" for x, y in points)
        self.inside.append(f'<path class="line {kind}" d="{path}"/>')

    def points(self, points, kind, square=False, radius=2.9):
        shapes = []
        for x, y in points:
            x, y = self.x(x), self.y(y)
            if square:
                side = 1.75 * radius
                shapes.append(f'<rect class="point {kind}" x="{number(x - side / 2)}" y="{number(y - side / 2)}" '
                              f'width="{number(side)}" height="{number(side)}"/>')
            else:
                shapes.append(f'<circle class="point {kind}" cx="{number(x)}" cy="{number(y)}" r="{radius}"/>')
        self.inside += shapes

    def mark(self, x, y):
        self.inside.append(f'<circle class="mark" cx="{number(self.x(x))}" cy="{number(self.y(y))}" r="7"/>')

    def drawn(self, left, top, name):
        lines = [f'<g transform="translate({left} {top})">',
                 f'<text class="head" x="0" y="-10">{html.escape(self.title)}</text>',
                 f'<clipPath id="{name}"><rect width="{self.width}" height="{self.height}"/></clipPath>']
        if self.ticks:
            for value in self.labels or nice_ticks(self.low[0], self.high[0]):
                lines.append(f'<path class="grid" d="M{number(self.x(value))} 0V{self.height}"/>'
                             f'<text x="{number(self.x(value))}" y="{self.height + 15}" text-anchor="middle">'
                             f'{html.escape(self.labels.get(value, f"{value:g}"))}</text>')
            for value in self.side_labels or nice_ticks(self.low[1], self.high[1]):
                lines.append(f'<path class="grid" d="M0 {number(self.y(value))}H{self.width}"/>'
                             f'<text x="-6" y="{number(self.y(value) + 4)}" text-anchor="end">'
                             f'{html.escape(self.side_labels.get(value, f"{value:g}"))}</text>')
        lines += [f'<g clip-path="url(#{name})">', *self.inside, "</g>",
                  f'<rect class="frame" width="{self.width}" height="{self.height}"/>']
        if self.below:
            lines.append(f'<text x="{self.width / 2:g}" y="{self.height + (30 if self.ticks else 18)}" '
                         f'text-anchor="middle">{html.escape(self.below)}</text>')
        return [*lines, "</g>"]


class Picture:
    """Panels in rows, and a legend of (kind, dashes or "point" or "square", text) below."""

    def __init__(self, title):
        self.title = title
        self.rows = []
        self.legend = []

    def row(self, *panels):
        self.rows.append(panels)

    def text(self):
        ticks = any(panel.ticks for row in self.rows for panel in row)
        left, bottom = (LEFT + 38, BOTTOM + 12) if ticks else (LEFT, BOTTOM)
        lines, top, width = [], TOP, 0
        for r, row in enumerate(self.rows):
            at = left
            for c, panel in enumerate(row):
                lines += panel.drawn(at, top, f"p{r}{c}")
                at += panel.width + (left if ticks else GAP)
            width = max(width, at - (left if ticks else GAP) + LEFT)
            top += row[0].height + bottom + TOP - 8
        top += 2 - (TOP - 8)
        at, high = left, top + 6
        for kind, how, text in self.legend:
            length = 34 + 7 * len(text)
            if at + length > width:
                at, high = left, high + 20
            if how == "point":
                lines.append(f'<circle class="point {kind}" cx="{at + 10:g}" cy="{high - 4}" r="4"/>')
            elif how == "square":
                lines.append(f'<rect class="point {kind}" x="{at + 6:g}" y="{high - 8}" width="8" height="8"/>')
            elif how == "mark":
                lines.append(f'<circle class="mark" cx="{at + 10:g}" cy="{high - 4}" r="6"/>')
            else:
                lines.append(f'<path class="line {kind} {how}" d="M{at:g} {high - 4}h22"/>')
            lines.append(f'<text x="{at + 28:g}" y="{high}">{html.escape(text)}</text>')
            at += length + 12
        height = high + 14 if self.legend else top
        title = html.escape(self.title)
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
                f'role="img" aria-label="{title}" font-family="system-ui, sans-serif" font-size="12">',
                f"<title>{title}</title>", f"<style>{STYLE}</style>",
                f'<rect class="page" width="{width:g}" height="{height:g}" rx="6"/>']
        return "\n".join([*head, *lines, "</svg>"]) + "\n"


def contour(low, high, steps, value, level):
    """Pieces of the line where a function of the plane has the level: marching squares, as segments."""
    xs = [low[0] + (high[0] - low[0]) * i / steps for i in range(steps + 1)]
    ys = [low[1] + (high[1] - low[1]) * i / steps for i in range(steps + 1)]
    return contour_of(xs, ys, [[value(x, y) for x in xs] for y in ys], level)


def contour_of(xs, ys, table, level):
    """The same of a table of values, a row per y; segments are joined to lines where they meet."""
    segments = []
    for j in range(len(ys) - 1):
        for i in range(len(xs) - 1):
            corners = [(xs[i], ys[j], table[j][i]), (xs[i + 1], ys[j], table[j][i + 1]),
                       (xs[i + 1], ys[j + 1], table[j + 1][i + 1]), (xs[i], ys[j + 1], table[j + 1][i])]
            cuts = []
            for (x0, y0, v0), (x1, y1, v1) in zip(corners, corners[1:] + corners[:1]):
                if (v0 < level) != (v1 < level):
                    t = (level - v0) / (v1 - v0)
                    cuts.append((round(x0 + t * (x1 - x0), 9), round(y0 + t * (y1 - y0), 9)))
            segments += [(a, b) for a, b in zip(cuts[::2], cuts[1::2]) if a != b]
    return joined(segments)


def joined(segments):
    ends = {}
    for segment in segments:
        for end in segment:
            ends.setdefault(end, []).append(segment)
    lines, used = [], set()
    for segment in segments:
        if segment in used:
            continue
        used.add(segment)
        line = list(segment)
        for _ in range(2):  # one end, then the other
            while True:
                more = next((s for s in ends[line[-1]] if s not in used), None)
                if more is None:
                    break
                used.add(more)
                line.append(more[1] if more[0] == line[-1] else more[0])
            line.reverse()
        lines.append(line)
    return lines
