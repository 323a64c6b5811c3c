"""Draws what a painter gives a light of its own: eyes, and round things such as pearls, grapes, beads and buttons.

Seen alone, such a light looks like glare; the eye, the face or the row of pearls around it tells them apart.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

MOST = 7  # objects in a crop
SKIN = ((0.55, 0.36, 0.26), (0.40, 0.24, 0.16), (0.72, 0.55, 0.43), (0.24, 0.14, 0.09))
IRISES = ((0.06, 0.035, 0.02), (0.10, 0.14, 0.20), (0.08, 0.10, 0.05), (0.03, 0.02, 0.015), (0.35, 0.22, 0.05))
BODIES = ((0.55, 0.52, 0.47), (0.03, 0.03, 0.06), (0.10, 0.015, 0.02), (0.07, 0.09, 0.03), (0.30, 0.18, 0.04),
          (0.02, 0.02, 0.02), (0.18, 0.2, 0.22))


def step(distance, soft):
    """1 where the distance is below 0, 0 above, over a rim of `soft` pixels."""
    return torch.sigmoid(-distance / soft)


class Canvas:
    """A window of a crop about a point, in which shapes are painted over each other; linear colours."""

    def __init__(self, lin, mark, y, x, reach, turn, soft):
        h, w = lin.shape[1:]
        self.rows = slice(max(0, int(y - reach)), max(0, min(h, int(y + reach) + 1)))
        self.columns = slice(max(0, int(x - reach)), max(0, min(w, int(x + reach) + 1)))
        self.lin, self.mark, self.soft = lin, mark, soft
        v = torch.arange(self.rows.start, max(self.rows.start, self.rows.stop), device=lin.device).view(-1, 1) - y
        u = torch.arange(self.columns.start, max(self.columns.start, self.columns.stop), device=lin.device).view(1, -1) - x
        self.u, self.v = u * math.cos(turn) + v * math.sin(turn), v * math.cos(turn) - u * math.sin(turn)

    def paint(self, colour, share):
        own = self.lin[:, self.rows, self.columns]
        colour = torch.as_tensor(colour, device=own.device, dtype=own.dtype)
        own.copy_(own * (1 - share) + (colour if colour.dim() == 3 else colour.view(3, 1, 1)) * share)

    def ellipse(self, u, v, a, b, turn=0.0):
        """Distance in pixels to an ellipse, negative inside, nearly."""
        x, y = self.u - u, self.v - v
        x, y = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
        return ((x / a) ** 2 + (y / b) ** 2 + 1e-9).sqrt().sub(1) * min(a, b)

    def light(self, u, v, a, b, turn, colour, share):
        s = step(self.ellipse(u, v, a, b, turn), min(self.soft, 0.4 * min(a, b) + 0.12)) * share
        self.paint(colour, s)
        own = self.mark[self.rows, self.columns]
        own.copy_(torch.maximum(own, (s > 0.25).to(own.dtype)))


def jitter(colour, rng, by=0.25):
    level = math.exp(rng.normal(0, by))
    return [min(1.0, c * level * math.exp(rng.normal(0, by / 3))) for c in colour]


def highlight(rng, warm=0.06):
    level = rng.uniform(0.3, 1.0)
    return [level, level * (1 - rng.uniform(0, warm)), level * (1 - rng.uniform(-warm, 3 * warm))]


def eye(lin, mark, y, x, r, rng, turn):
    """An eye with an iris of radius r."""
    c = Canvas(lin, mark, y, x, 13 * r + 3, turn, soft=float(rng.uniform(0.03, 0.12)) * r + 0.25)
    animal = rng.random() < 0.3
    wide, high = (r * rng.uniform(1.0, 1.4),) * 2 if animal else (r * rng.uniform(1.9, 2.6), r * rng.uniform(0.75, 1.15))
    dim = float(rng.uniform(0.25, 1.1))
    if animal:
        c.paint(jitter((0.03, 0.025, 0.02), rng, 0.7), step(c.ellipse(0, 0, 3 * r, 2.5 * r), 0.8 * r) * rng.uniform(0.3, 1))
    elif rng.random() < 0.85:
        skin = [dim * v for v in jitter(SKIN[rng.integers(len(SKIN))], rng)]
        c.paint(skin, step(c.ellipse(0, 0.5 * r, rng.uniform(4, 6.5) * r, rng.uniform(3, 5.5) * r), 1.2 * r))
        # Shadow of the lid and of the socket, and the brow.
        c.paint([0.45 * v for v in skin], step(c.ellipse(0, -0.7 * high, 1.25 * wide, 1.3 * high), 0.5 * r) * rng.uniform(0.2, 0.9))
        if rng.random() < 0.6:
            brow = c.ellipse(0, -2.6 * r, 2.6 * r, 0.3 * r, rng.normal(0, 0.15))
            c.paint([0.2 * v for v in skin], step(brow, 0.25 * r) * rng.uniform(0.3, 1))
    white = [dim * v for v in jitter((0.5, 0.46, 0.42), rng)]
    lid = torch.maximum(c.ellipse(0, 0.55 * high, wide, 1.55 * high), c.ellipse(0, -0.45 * high, wide, 1.45 * high))
    inside = step(lid, c.soft)
    c.paint(white, inside * rng.uniform(0.5, 1))
    at = float(rng.uniform(-0.5, 0.5)) * (wide - r) * (not animal), float(rng.uniform(-0.15, 0.1)) * r
    d = c.ellipse(*at, r, r)
    iris = jitter(IRISES[rng.integers(len(IRISES))], rng, 0.4)
    c.paint([0.3 * v for v in iris], step(d, c.soft) * inside)
    c.paint(iris, step(d + 0.15 * r, c.soft) * inside)
    c.paint((0.006, 0.005, 0.004), step(d + rng.uniform(0.35, 0.65) * r, c.soft) * inside)
    # The upper lid's line of lashes.
    c.paint((0.015, 0.01, 0.008), (step(lid.abs() - 0.1 * r, c.soft) * step(c.v + 0.1 * high, c.soft)) * rng.uniform(0.2, 1))
    side = -1 if rng.random() < 0.6 else 1
    for k in range(1 + int(rng.random() < 0.3) + int(rng.random() < 0.15)):
        a = max(0.4, r * rng.uniform(0.06, 0.28) / (1 + 0.7 * k))
        u, v = at[0] + side * r * rng.uniform(0.05, 0.6) * (-1 if k == 2 else 1), at[1] - r * rng.uniform(0.1, 0.6)
        c.light(u, v, a * rng.uniform(1, 1.8), a, rng.uniform(0, math.pi), highlight(rng), rng.uniform(0.6, 1))
    if not animal and rng.random() < 0.3:  # the wet corner
        c.light(-side * 0.9 * wide, 0.1 * high, max(0.4, 0.1 * r), max(0.4, 0.08 * r), 0, highlight(rng), rng.uniform(0.3, 0.9))


def ball(lin, mark, y, x, r, rng, turn, colour, stretch=1.0):
    """A shaded ball with a highlight towards the light at the angle turn, and a reflection opposite."""
    c = Canvas(lin, mark, y, x, 1.6 * r * stretch + 3, turn, soft=float(rng.uniform(0.05, 0.15)) * r + 0.25)
    d = c.ellipse(0, 0, r, r * stretch)
    inside = step(d, c.soft)
    near = ((c.u - 0.4 * r) ** 2 + c.v ** 2).sqrt() / r
    shade = (1.15 - 0.6 * near).clamp(0.15, 1.3)
    back = step(((c.u + 0.55 * r) ** 2 + c.v ** 2).sqrt() / r - 0.5, 0.15) * rng.uniform(0, 0.6)
    c.paint(torch.as_tensor(colour, device=lin.device).view(3, 1, 1) * (shade + back), inside)
    a = max(0.4, r * rng.uniform(0.1, 0.3))
    c.light(r * rng.uniform(0.3, 0.55), r * rng.normal(0, 0.08), a, a * rng.uniform(1, 1.6), 0, highlight(rng), rng.uniform(0.5, 1))


def balls(lin, mark, y, x, r, rng, turn):
    """One ball, a row of them or a bunch, all lit from one side."""
    colour = jitter(BODIES[rng.integers(len(BODIES))], rng, 0.5)
    kind, count = rng.random(), int(rng.integers(3, 12))
    places = [(0.0, 0.0)]
    if kind < 0.35:
        along, bend = rng.uniform(0, 2 * math.pi), rng.normal(0, 0.12)
        for k in range(1, count):
            py, px = places[-1]
            places.append((py + 2.1 * math.sin(along + bend * k), px + 2.1 * math.cos(along + bend * k)))
    elif kind < 0.7:
        places = [tuple(rng.normal(0, 0.9 * math.sqrt(count), 2)) for _ in range(count)]
    for py, px in places:
        ball(lin, mark, y + r * py, x + r * px, r * math.exp(rng.normal(0, 0.08)), rng, turn + rng.normal(0, 0.1),
             jitter(colour, rng, 0.12), 1 + 0.3 * rng.random())


def objects(lin, rng, share):
    """Draws eyes and balls on a share of crops [n, 3, h, w], linear; returns them and the mark of their highlights [n, 1, h, w]."""
    ground, lin = lin, lin.clone()
    n, _, h, w = lin.shape
    mark = torch.zeros(n, 1, h, w, device=lin.device)
    for k in range(n):
        for _ in range(int(rng.integers(1, MOST + 1)) if rng.random() < share else 0):
            y, x, turn = rng.uniform(0, h), rng.uniform(0, w), float(rng.uniform(0, 2 * math.pi))
            r = math.exp(rng.uniform(math.log(2.5), math.log(34)))
            if rng.random() < 0.55:
                turn = float(rng.normal(0, 0.35)) if rng.random() < 0.7 else turn
                gap, seed = r * rng.uniform(4.5, 7), int(rng.integers(1 << 31))
                for i in range(1 + int(rng.random() < 0.6)):
                    down, right = i * gap * math.sin(turn), i * gap * math.cos(turn)
                    eye(lin[k], mark[k, 0], y + down, x + right, r, np.random.default_rng(seed), turn)
            else:
                balls(lin[k], mark[k, 0], y, x, r, rng, turn)
    # What lies under them shows through as it does through paint: cracks, strokes, weave.
    texture = (ground / F.avg_pool2d(ground, 9, 1, 4, count_include_pad=False).clamp(min=0.003)).clamp(0.5, 1.8)
    through = torch.rand(n, 1, 1, 1, device=lin.device) * ((lin - ground).abs().amax(1, keepdim=True) > 1e-3)
    return (lin * texture ** through).clamp(0, 1), mark
