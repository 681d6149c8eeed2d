"""The title card and the end card, as posters."""

from __future__ import annotations

from pen import Pen, shade
from props import pineapple
from structures import bandstand, dial

GREEN, CREAM, MUSTARD = "#1f4a38", "#f6ecd0", "#e0a526"
TITLE = "Sixty-One Kilos"


def draw_title(pen: Pen, *, end: bool) -> None:
    """Draw the opening poster, or the closing one."""
    ground = MUSTARD if end else GREEN
    pen.rect(-10, -10, 1610, 910, ground)
    for k in range(16):
        local = pen.at(1180, 470, turn=k * 22.5)
        local.poly([(0, 0), (-130, -1500), (130, -1500)], shade(ground, 1.07))
    if end:
        bandstand(pen.at(1130, 800, 0.95))
        pineapple(pen.at(1130, 258, 0.62))
        pen.text(420, 380, "THE END", 120, GREEN, bold=4)
        pen.text(420, 500, "written and drawn", 46, GREEN)
        pen.text(420, 560, "for folioreel", 46, GREEN)
        return
    pen.ellipse(1180, 470, 330, 330, shade(ground, 0.75))
    dial(pen.at(1180, 980, 1.95), 61)
    pen.rect(-10, 790, 1610, 910, "#767d5c")
    for k in range(9):
        pen.line(
            [(60 + k * 180, 826 + 30 * (k % 2)), (150 + k * 180, 826 + 30 * (k % 2))],
            6,
            "#9aa07c",
            ends=False,
        )
    pen.text(440, 280, "SIXTY-ONE", 130, CREAM, bold=4)
    pen.text(440, 430, "KILOS", 190, MUSTARD, bold=6)
    pen.line([(170, 560), (710, 560)], 6, CREAM)
    pen.text(440, 620, "a film from the book", 48, CREAM)
