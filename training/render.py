"""Renders glare on crops of photographs, on a GPU.

  render.py PHOTOS OUT.pt COUNT SEED [--objects SHARE] [--surface FOLDER] [--skip p005,p009] [--seconds N]

A crop of 512 px of a photograph (each painting equally often) gets a relief: weave, bristles along its strokes, impasto,
curved ridges, bumps, cracks. Its facets mirror one to three lamps (GGX lobes about the half vector: Walter et al. 2007), or
specks are scattered on thread tops, or soft spots are drawn; then lens, sensor and JPEG. Painted dabs, pearls and dry brush
are added to half of the crops as what only looks like glare, eyes and round things (objects.py) to a share of them. With --surface a
sixteenth comes from a measured painting: diffuse and specular colour, normals, gloss (isotropic Ward lobe), of which only the
lamps are invented.

The truth is what a person can see: the larger rise of lightness and darkest channel in levels. Pixels of at least 14 levels
and 0.4 of the largest rise nearby are glare if their component rises by 26 levels and 1.2 deviations of the ground.
OUT has x: uint8 [N, 4, 512, 512] (R, G, B, label 255 glare, 64 a light of objects.py, 0 other paint), lit: whether there was a
lamp, names and painting: the ground of each crop.
"""
import argparse
import concurrent.futures
import io
import json
import math
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

from objects import objects

SIDE, FINE = 512, 2  # pixels of a crop; the relief has FINE cells a pixel
BATCH = 8
LIGHTNESS = (0.2126, 0.7152, 0.0722)
DENSE = 0.4  # share of crops in which glare is as dense as on dark impasto: up to a tenth of all pixels
PAINTED = 64  # label of their lights
PAPER = ("p015", "p016", "p020")  # drawings have no gloss
device = "cuda" if torch.cuda.is_available() else "cpu"


def linear(v):
    return torch.where(v <= 0.04045, v / 12.92, ((v.clamp(min=0) + 0.055) / 1.055) ** 2.4)


def coded(l):
    l = l.clamp(0, 1)
    return torch.where(l <= 0.0031308, l * 12.92, 1.055 * l.clamp(min=1e-8) ** (1 / 2.4) - 0.055)


def lightness(rgb):
    return (rgb * torch.tensor(LIGHTNESS, device=rgb.device).view(1, 3, 1, 1)).sum(1, keepdim=True)


def one(v):
    """A value for each crop, shaped for planes."""
    v = torch.as_tensor(v, device=device, dtype=torch.float32)
    return v.view(-1, 1, 1, 1) if v.dim() == 1 else v


def uniform(n, low, high):
    return low + (high - low) * torch.rand(n, device=device)


def spread(n, low, high):
    """Uniform in the logarithm."""
    return torch.exp(uniform(n, math.log(low), math.log(high)))


def chance(n, p):
    return (torch.rand(n, device=device) < p).float()


def frequencies(h, w):
    return torch.fft.fftfreq(h, device=device).view(-1, 1), torch.fft.rfftfreq(w, device=device).view(1, -1)


def blur(x, sigma, across=None, angle=None):
    """Gaussian blur, periodic; elliptic with sigma along the angle and `across` at right angles to it."""
    fy, fx = frequencies(*x.shape[2:])
    if across is None:
        g = torch.exp(-2 * math.pi ** 2 * one(sigma) ** 2 * (fx ** 2 + fy ** 2))
    else:
        a = one(angle)
        u, v = fx * torch.cos(a) + fy * torch.sin(a), fy * torch.cos(a) - fx * torch.sin(a)
        g = torch.exp(-2 * math.pi ** 2 * (one(sigma) ** 2 * u ** 2 + one(across) ** 2 * v ** 2))
    return torch.fft.irfft2(torch.fft.rfft2(x) * g, s=x.shape[2:])


def smooth(n, h, w, size):
    """Smooth noise of unit deviation."""
    f = blur(torch.randn(n, 1, h, w, device=device), one(size) * 0.42)
    return f / f.flatten(1).std(1).view(-1, 1, 1, 1)


def gradient(f):
    return (f.roll(-1, 3) - f.roll(1, 3)) / 2, (f.roll(-1, 2) - f.roll(1, 2)) / 2


def quantile(f, q):
    """A quantile of each crop, from every fourth pixel."""
    v = f[:, 0, ::4, ::4].flatten(1).sort(1)[0]
    at = (v.shape[1] * one(q).reshape(-1)).long().clamp(0, v.shape[1] - 1).expand(v.shape[0])
    return v.gather(1, at.view(-1, 1)).view(-1, 1, 1, 1)


def unit(f):
    """A height field whose slopes reach 1 in two of a hundred cells."""
    return f / (quantile(torch.hypot(*gradient(f)), 0.98) + 1e-6)


def enlarge(x):
    return F.interpolate(x, scale_factor=FINE, mode="bicubic", align_corners=False)


def reduce(x):
    return F.avg_pool2d(x, FINE)


def weave(n, h, w, period):
    """A plain weave of uneven threads."""
    p = one(period)
    y = torch.arange(h, device=device).view(1, 1, -1, 1).float()
    x = torch.arange(w, device=device).view(1, 1, 1, -1).float()
    bend = lambda: 0.35 * p * smooth(n, h, w, 9 * period) + 0.12 * p * smooth(n, h, w, 2.5 * period)
    u, v = (x + bend()) / p, (y + bend()) / p
    over = torch.sin(math.pi * u) * torch.sin(math.pi * v)
    warp = torch.cos(math.pi * u).abs() * (0.6 + 0.4 * over)
    weft = torch.cos(math.pi * v).abs() * (0.6 - 0.4 * over)
    return torch.maximum(warp, weft) * (1 + 0.2 * smooth(n, h, w, 3 * period))


def bristles(g, size=1.25):
    """Fine ridges along the strokes of a picture: noise drawn out along its structure tensor."""
    n, _, h, w = g.shape
    gx, gy = gradient(blur(g, 1.5))
    xx, yy, xy = blur(gx * gx, 7.0), blur(gy * gy, 7.0), blur(gx * gy, 7.0)
    along = 0.5 * torch.atan2(2 * xy, xx - yy) + math.pi / 2 + 0.15 * smooth(n, h, w, 60.0)
    noise = torch.fft.rfft2(torch.randn(n, 1, h, w, device=device))
    fy, fx = frequencies(h, w)
    total = weight = 0
    for i in range(8):
        t = math.pi * i / 8
        u, v = fx * math.cos(t) + fy * math.sin(t), fy * math.cos(t) - fx * math.sin(t)
        line = torch.fft.irfft2(noise * torch.exp(-2 * math.pi ** 2 * ((2.6 * size * u) ** 2 + (0.55 * size * v) ** 2)), s=(h, w))
        k = torch.cos(along - t) ** 6
        total, weight = total + k * line, weight + k
    return total / weight


def curves(n, h, w, size, width, cover):
    """Curved lines of 0...1: where a smooth field is zero, in part of the crop."""
    f = smooth(n, h, w, size)
    distance = f / (torch.hypot(*gradient(f)) + 1e-4)
    part = torch.sigmoid(6 * (smooth(n, h, w, one(size).reshape(-1) * 1.3) - one(cover)))
    return torch.exp(-(distance / one(width)) ** 2) * part


def bumps(n, h, w, least, most, share=0.05):
    total = 0
    for k in range(5):
        r = least * (most / least) ** (k / 4) * FINE
        stretch = uniform(n, 1, 2.2).sqrt()
        s = 0.62 * r
        seeds = (torch.rand(n, 1, h, w, device=device) < one(share / 5 / (math.pi * r * r))).float()
        seeds = seeds * (0.4 + 0.7 * torch.rand(n, 1, h, w, device=device))
        total = total + blur(seeds, s * stretch, s / stretch, uniform(n, 0, math.pi)) * one(2 * math.pi * s * s * r)
    return total


def dabs(lin):
    """Adds painted lights, which are never glare: dabs, pearls of two tones, dry brush."""
    n, _, h, w = lin.shape
    light = lightness(lin)
    base = quantile(light, 0.6)
    area = torch.sigmoid(4 * (smooth(n, h, w, 150.0) - one(uniform(n, -0.5, 1.2)))) > 0.3
    for kind, share in (("dab", 0.75), ("pearl", 0.45), ("dry", 0.35)):
        dry = kind == "dry"
        r = spread(n, 4, 14) if dry else spread(n, 0.8, 6)
        stretch = uniform(n, 2, 5) if dry else uniform(n, 1, 2.5)
        density = chance(n, share) * spread(n, 2e-5, 6e-4) / r.clamp(min=1) ** 0.8 / (12 if dry else 1)
        seeds = (torch.rand(n, 1, h, w, device=device) < one(density)).float()
        shape = blur(seeds, r * stretch, r, uniform(n, 0, math.pi)) * one(2 * math.pi * r * r * stretch)
        shape = shape * (1 + one(uniform(n, 0.05, 0.5)) * smooth(n, h, w, 2.5))
        cover = torch.sigmoid((shape - 0.55) * one(r) * 5) * area
        if dry:
            b = bristles(light, 0.9)
            cover = cover * torch.sigmoid(6 * (b / (b.flatten(1).std(1).view(-1, 1, 1, 1) + 1e-6) - one(uniform(n, 0, 1))))
        warm = torch.stack([torch.ones(n, device=device), uniform(n, 0.8, 1), uniform(n, 0.4, 0.95)], 1)
        cold = torch.stack([uniform(n, 0.6, 1), uniform(n, 0.7, 1), torch.ones(n, device=device)], 1)
        colour = torch.where(chance(n, 0.25)[:, None] > 0, cold, warm)
        colour = torch.where(chance(n, 0.25)[:, None] > 0, torch.ones_like(colour), colour).view(n, 3, 1, 1)
        level = (base * one(uniform(n, 1.8, 6)) + one(uniform(n, 0.03, 0.12))).clamp(0.06, 0.9)
        cover = blur(cover, uniform(n, 0.35, 0.9)).clamp(0, 1) * one(uniform(n, 0.6, 1))
        cover = cover * (0.85 + 0.15 * smooth(n, h, w, 2.5)).clamp(0, 1)
        lin = lin * (1 - cover) + cover * colour * level
        if kind == "pearl":
            core = blur((cover > 0.8).float(), r * 0.35).clamp(0, 1) ** 2
            core = core.roll((-1, -1), (2, 3)) * one(chance(n, 0.6))
            lin = lin * (1 - core) + core * colour * (level * 1.6).clamp(0, 0.95)
    return lin


def relief(lin):
    """Slopes of a surface for a picture, and the weave in it."""
    n, _, h, w = lin.shape
    h, w = h * FINE, w * FINE
    g = coded(lightness(lin))
    wide = enlarge(g)
    energy = blur((blur(wide, float(FINE)) - wide).abs(), 10.0 * FINE)
    thick = (0.35 + 0.5 * energy / (quantile(energy, 0.9) + 1e-6) + 0.35 * blur(wide, 4.0 * FINE)).clamp(0.2, 1.4)
    parts = torch.distributions.Dirichlet(torch.tensor([0.5, 0.8, 0.7, 0.7, 0.6], device=device)).sample((n,)) * 3 + 0.03
    large = chance(n, 0.27)
    parts[:, 4] += 1.2 * large
    threads = weave(n, h, w, uniform(n, 4, 10) * FINE)
    ridge = lambda cover: curves(n, h, w, uniform(n, 30, 120) * FINE, uniform(n, 1.2, 3.5) * FINE, cover)
    least = torch.where(large > 0, uniform(n, 2, 4), torch.full((n,), 0.6, device=device))
    most = torch.where(large > 0, uniform(n, 8, 16), uniform(n, 3, 7))
    fields = (unit(threads) * (1.4 - thick) * (0.6 + 0.4 * smooth(n, h, w, 200.0 * FINE).clamp(-1, 1)),
              unit(enlarge(bristles(g))) * thick, unit(blur(wide, 1.1 * FINE) - blur(wide, 5.0 * FINE)) * thick,
              unit(ridge(0.4) + ridge(0.6)), unit(bumps(n, h, w, least, most)))
    height = sum(one(parts[:, i]) * f for i, f in enumerate(fields))
    sx, sy = gradient(blur(height, torch.where(large > 0, uniform(n, 1.6, 2.8), uniform(n, 0.55, 1.5)) * FINE))
    scale = 0.30 / (quantile(torch.hypot(sx, sy), 0.95) + 1e-6)
    cracks = curves(n, h, w, uniform(n, 12, 70) * FINE, uniform(n, 0.4, 1.1) * FINE, uniform(n, -0.2, 1)) * one(chance(n, 0.35))
    cx, cy = gradient(blur(-cracks, 0.5 * FINE))
    deep = one(uniform(n, 0.3, 1.2)) * FINE
    return sx * scale + deep * cx, sy * scale + deep * cy, threads, reduce(cracks)


def lobe(sx, sy, rough):
    """A GGX lobe of facets about a half vector that differs over the crop, as of a near lamp."""
    n, _, h, w = sx.shape
    phase = one(uniform(n, 0, 2 * math.pi))
    lean, near = one(uniform(n, 0.3, 0.55)), one(uniform(n, 0.1, 0.3))
    y = torch.arange(h, device=device).view(1, 1, -1, 1) / h - one(torch.rand(n, device=device))
    x = torch.arange(w, device=device).view(1, 1, 1, -1) / w - one(torch.rand(n, device=device))
    hx, hy = lean * torch.cos(phase) + near * x, lean * torch.sin(phase) + near * y
    cos = (1 + sx * hx + sy * hy) / torch.sqrt((1 + sx * sx + sy * sy) * (1 + hx * hx + hy * hy))
    d = rough * rough / (cos * cos * (rough * rough - 1) + 1)
    return d * d


def specks(n, h, w, threads):
    """Round specks of 1 to 5 px, gathered, half of the crops with most of them on thread tops."""
    sigma = uniform(n, 0.4, 1.15) * FINE
    gathered = torch.sigmoid(5 * (smooth(n, h, w, 180.0 * FINE) - one(uniform(n, -1.5, 0.8))))
    tops = torch.where(one(chance(n, 0.5)) > 0, (threads > quantile(threads, 0.75)).float() * 4, torch.ones_like(threads))
    seeds = (torch.rand(n, 1, h, w, device=device) < one(spread(n, 6e-5, 2e-3)) / FINE ** 2 * gathered * tops).float()
    seeds = seeds * torch.exp(0.45 * torch.randn(n, 1, h, w, device=device))
    return reduce(blur(seeds, sigma) * one(2 * math.pi * sigma ** 2)).clamp(min=0)


def spots(n, h, w):
    """Soft spots of up to 20 px, many of them clipped, with a faint halo."""
    r = spread(n, 0.8, 7)
    stretch = uniform(n, 1, 2)
    seeds = (torch.rand(n, 1, h, w, device=device) < one(spread(n, 1e-5, 2e-4) / r)).float()
    seeds = seeds * torch.exp(0.6 * torch.randn(n, 1, h, w, device=device))
    f = blur(seeds, r * stretch, r, uniform(n, 0, math.pi)) * one(12 * math.pi * r * r * stretch)
    return (f.clamp(0, 8) + 0.02 * blur(f, 12.0)).clamp(min=0)


def lamps(lin, surface, zone):
    """The light that one to three lamps add; nothing in the zone beside the painting."""
    sx, sy, threads, _ = surface
    n, _, h, w = lin.shape
    lens = uniform(n, 0.4, 1.05)
    share = torch.where(chance(n, DENSE) > 0, spread(n, 8e-3, 1e-1), spread(n, 4e-4, 1.2e-2))
    count = torch.tensor([1, 1, 2, 3], device=device)[torch.randint(4, (n,), device=device)]
    strong = chance(n, 0.6)
    ground = coded(quantile(lightness(lin), 0.5)).view(-1)
    visible = (linear((ground + uniform(n, 45, 170) / 255).clamp(0, 1.1)) - linear(ground)).clamp(0.02, 3)
    style = torch.rand(n, device=device)
    speck, spot = style < 0.25, (style >= 0.25) & (style < 0.47)
    paint = blur(lin, 1.5)
    tint = paint / paint.max(1, keepdim=True)[0].clamp(min=0.02)
    colours = torch.tensor([[1, 0.985, 0.97]] * 3 + [[1, 0.66, 0.32], [0.55, 0.78, 1.0]], device=device)
    total = torch.zeros_like(lin)
    for i in range(3):
        gloss = torch.exp(0.25 * smooth(n, *sx.shape[2:], 250.0) - 0.35 * smooth(n, *sx.shape[2:], 420.0).clamp(0, 3))
        d = lobe(sx, sy, one(uniform(n, 0.04, 0.15))) * gloss
        lit = share / count * uniform(n, 0.4, 1.2)
        low = quantile(d, 1 - lit)
        s = ((d - low) / (quantile(d, 1 - lit * uniform(n, 0.03, 0.3)) - low).clamp(min=1e-6)).clamp(0, 1)
        peak = torch.where(strong > 0, spread(n, 0.25, 3.5), visible * uniform(n, 0.8, 1.6))
        size = torch.tensor([5.0, 9.0, 14.0], device=device)[torch.randint(3, (n,), device=device)]
        gain = torch.exp(one(uniform(n, 0.3, 0.9)) * smooth(n, h, w, size))
        s = blur(reduce(s) * gain * one(peak), lens).clamp(min=0)
        if i == 0:
            drawn = torch.where(one(speck.float()) > 0, specks(n, *sx.shape[2:], threads) * one(visible * uniform(n, 0.7, 1.6)),
                                one(spot.float()) * spots(n, h, w))
            s = s * (1 - one((speck | spot).float() * chance(n, 0.6))) + drawn
        soft = (chance(n, 0.6) > 0) & ~spot
        s = torch.where(one(soft.float()) > 0, one(uniform(n, 0.6, 1.1)) * torch.tanh(s / 0.8), s)
        white = torch.rand(n, 1, device=device)
        colour = colours[torch.randint(5, (n,), device=device)] * (1 - white) + white
        mixed = one(uniform(n, 0, 0.75))
        total = total + s * colour.view(n, 3, 1, 1) * (1 - mixed + mixed * tint) * one((count > i).float())
    total = total * (1 - zone)
    return total + one(chance(n, 0.4) * uniform(n, 0.002, 0.012)) * blur(total, 12.0).clamp(min=0) * (1 - zone)


def components(m, rounds=30):
    """Labels of components, for those that are at most some 60 px long."""
    n, _, h, w = m.shape
    label = torch.arange(1, n * h * w + 1, device=device, dtype=torch.float64).view(n, 1, h, w) * m
    label = label.float() if n * h * w < 1 << 24 else label
    for _ in range(rounds):
        label = F.max_pool2d(label, 3, 1, 1) * m
    return label.long()


def truth(clean, lit):
    """Returns labels from the pictures without and with glare, linear."""
    c, o = coded(clean), coded(lit)
    rise = torch.maximum(lightness(o - c), o.amin(1, keepdim=True) - c.amin(1, keepdim=True)) * 255
    m = (rise >= 14) & (rise >= 0.4 * F.max_pool2d(rise, 9, 1, 4))
    label = components(m.float())
    peak = torch.zeros(int(label.max()) + 1, device=device).scatter_reduce(0, label.flatten(), rise.flatten(), "amax")
    light = lightness(c) * 255
    box = lambda v: F.avg_pool2d(v, 33, 1, 16, count_include_pad=False)
    deviation = (box(light * light) - box(light) ** 2).clamp(min=0).sqrt()
    sure = m & (peak[label] >= 26) & (peak[label] >= 1.2 * deviation)
    return (sure * 255).to(torch.uint8)


def sensor(lin):
    """Noise, and in half of the crops the sharpening of a museum's reproduction."""
    n = len(lin)
    shot, read = 10 ** uniform(n, -4.3, -2.9), 10 ** uniform(n, -3.5, -2.6)
    v = coded((lin + (lin * one(shot) + one(read) ** 2).sqrt() * torch.randn_like(lin)).clamp(0, 1))
    return (v + one(chance(n, 0.5) * uniform(n, 0.2, 2)) * (v - blur(v, uniform(n, 0.5, 1.3)))).clamp(0, 1)


def painted(v, zone, rng, share):
    """Crops [n, 3, h, w] of 0...1 -> lit and its labels, the same without lamps and its labels."""
    n = len(v)
    lin = linear(v)
    target = linear(spread(n, 10 / 255, 180 / 255)).view(-1, 1, 1, 1)
    k = (target / (quantile(lightness(lin), 0.5) + 1e-3)).clamp(0.05, 1.6)
    lin = (lin * torch.where(one(chance(n, 0.4)) > 0, k, torch.ones_like(k))).clamp(0, 1)
    d = one(chance(n, 0.45))
    lin = lin * (1 - d) + d * dabs(lin)
    lin, mark = objects(lin, rng, share)
    surface = relief(lin)
    sx, sy, _, cracks = surface
    lin = lin * (1 - one(uniform(n, 0, 0.6)) * cracks)
    turn = one(uniform(n, 0, 2 * math.pi))
    shade = blur(reduce(sx * torch.cos(turn) + sy * torch.sin(turn)), uniform(n, 0.3, 0.8))
    lin = lin * (1 + one(chance(n, 0.75)) * one(uniform(n, 0.2, 1.3)) * shade).clamp(0.3, 2)
    lin = blur(lin, torch.where(chance(n, 0.25) > 0, uniform(n, 0.4, 1), torch.full((n,), 0.01, device=device))).clamp(0, 1)
    lit = (lin + lamps(lin, surface, zone)).clamp(0, 1)
    label, mark = truth(lin, lit), (mark * PAINTED).to(torch.uint8)
    return sensor(lit), torch.where(label > 0, label, mark), sensor(lin), mark


class Surface:
    """A measured painting (../shared/data/multi-light/lighthouse-svbrdf), rendered at half its size."""
    VALID = (90, 3940, 130, 2980)

    def __init__(self, folder):
        read = lambda name: picture(os.path.join(folder, name)).float() / 255
        self.diffuse, self.specular = read("kd.jpg"), read("ks.jpg").mean(0, keepdim=True)
        self.normals, self.gloss = read("normals.jpg") * 2 - 1, read("gloss.jpg")[:1]
        # The maps carry the noise and the JPEG blocks of the fit, which would sparkle.
        soft = lambda p: F.avg_pool2d(p[None], 5, 1, 2, count_include_pad=False)[0]
        self.specular, self.gloss = soft(self.specular), soft(self.gloss)

    def crops(self, n, rng):
        x0, x1, y0, y1 = self.VALID
        side = 2 * SIDE
        lit, clean = [], []
        for _ in range(n):
            y, x = int(rng.integers(y0, y1 - side)), int(rng.integers(x0, x1 - side))
            cut = lambda p: p[:, y:y + side, x:x + side].to(device)
            kd, ks, normal, gloss = cut(self.diffuse), cut(self.specular), F.normalize(cut(self.normals), dim=0), cut(self.gloss)
            least, most = 1 - 0.6 ** 0.25, 1 - 0.05 ** 0.25
            alpha = ((1 - gloss * (most - least) - least) ** 4).clamp(min=1e-3)
            diffuse = specular = 0
            for _ in range(int(rng.integers(1, 4))):
                up, round_ = math.radians(rng.uniform(58, 78)), rng.uniform(0, 2 * math.pi)
                l = torch.tensor([math.cos(up) * math.cos(round_), math.cos(up) * math.sin(round_), math.sin(up)],
                                 device=device, dtype=torch.float32).view(3, 1, 1)
                half = F.normalize(l + torch.tensor([0, 0, 1.0], device=device).view(3, 1, 1), dim=0)
                nl, nv, nh = ((normal * t).sum(0, keepdim=True).clamp(min=1e-3) for t in
                              (l, torch.tensor([0, 0, 1.0], device=device).view(3, 1, 1), half))
                tan2 = (1 - nh ** 2).clamp(min=0) / nh ** 2
                ward = torch.exp(-tan2 / alpha ** 2) / (4 * math.pi * alpha ** 2 * (nl * nv).sqrt())
                share = rng.uniform(0.5, 1)
                diffuse, specular = diffuse + share * kd / math.pi * nl, specular + share * ks * ward * nl
            level = float(rng.uniform(0.08, 0.5)) / float(lightness(diffuse[None]).median())
            clean.append(reduce((diffuse * level)[None]))
            lit.append(reduce(((diffuse + specular * float(rng.uniform(0.4, 1.5))) * level)[None]))
        clean, lit = torch.cat(clean).clamp(0, 1), torch.cat(lit).clamp(0, 1)
        # A broad sheen is no glare: only what rises over its surroundings counts, so the rest joins the ground.
        more = lit - clean
        ground = clean + torch.minimum(more, 1.5 * blur(more, 8.0).clamp(min=0))
        label = truth(ground, lit)
        return sensor(lit), label, sensor(clean)


def picture(path):
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None
    return torch.from_numpy(np.asarray(Image.open(path).convert("RGB")).copy()).permute(2, 0, 1)


def jpeg(a, rng):
    from PIL import Image
    if rng.random() < 0.6:
        b = io.BytesIO()
        Image.fromarray(a).save(b, "JPEG", quality=int(rng.integers(78, 99)), subsampling=int(rng.choice([0, 2])))
        a = np.asarray(Image.open(b))
    return a


def beside(h, w, shares):
    """Marks the strips left, right, top, bottom of a photograph that are frame or support; shares in per cent."""
    m = torch.zeros(h, w, dtype=torch.uint8)
    left, right, top, bottom = (v / 100 for v in shares)
    m[:, :int(left * w)] = m[:, w - int(right * w):] = 1
    m[:int(top * h)] = m[h - int(bottom * h):] = 1
    return m


class Grounds:
    """Photographs of paintings, and crops of them."""

    def __init__(self, folder, skip):
        self.names = [n for n in sorted(f[:-4] for f in os.listdir(folder) if f.endswith(".jpg"))
                      if n not in skip and not n.startswith("crop_")]
        of = {}
        for k, n in enumerate(self.names):
            of.setdefault(n.split("__")[0], []).append(k)
        self.paintings = list(of.values())
        zones = json.load(open(os.path.join(folder, "zones.json")))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            self.photos = list(pool.map(lambda n: picture(os.path.join(folder, n + ".jpg")), self.names))
        self.zones = [beside(*p.shape[1:], zones.get(n, [0] * 4)) | (n in PAPER) for n, p in zip(self.names, self.photos)]

    def crop(self, k, rng):
        a = self.photos[k]
        scale = math.exp(rng.uniform(math.log(0.5), math.log(1.4))) if rng.random() < 0.35 else 1.0
        n = min(math.ceil(SIDE / scale), *a.shape[1:])
        y, x = int(rng.integers(0, a.shape[1] - n + 1)), int(rng.integers(0, a.shape[2] - n + 1))
        cut = lambda t: t[..., y:y + n, x:x + n].to(device).float().view(1, -1, n, n)
        v, zone = cut(a) / 255, cut(self.zones[k])
        if n != SIDE:
            v = F.interpolate(v, size=(SIDE, SIDE), mode="bilinear", antialias=True, align_corners=False)
            zone = F.interpolate(zone, size=(SIDE, SIDE), mode="nearest")
        return v, zone


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("photos")
    ap.add_argument("out")
    ap.add_argument("count", type=int)
    ap.add_argument("seed", type=int)
    ap.add_argument("--objects", type=float, default=0)
    ap.add_argument("--surface")
    ap.add_argument("--skip", default="p005,p009")
    ap.add_argument("--seconds", type=float, default=1e9)
    o = ap.parse_args()
    began = time.time()
    torch.manual_seed(o.seed)
    rng = np.random.default_rng(o.seed)
    grounds = Grounds(o.photos, o.skip.split(","))
    surface = Surface(o.surface) if o.surface else None
    names = grounds.names + ["lighthouse"]
    x = torch.zeros(o.count, 4, SIDE, SIDE, dtype=torch.uint8)
    lit, of = torch.zeros(o.count, dtype=torch.bool), torch.zeros(o.count, dtype=torch.long)
    pool, jobs, done = concurrent.futures.ThreadPoolExecutor(12), [], 0

    def keep(rgb, label, painting, lamp):
        nonlocal done
        if done >= o.count:
            return
        i, done = done, done + 1
        lit[i], of[i] = lamp, painting
        x[i, 3] = label

        def store():
            x[i, :3] = torch.from_numpy(jpeg(rgb, np.random.default_rng((o.seed, i))).copy()).permute(2, 0, 1)
        jobs.append(pool.submit(store))

    def host(a):
        return (a * 255 + 0.5).clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).cpu().numpy()
    batches = 0
    while done < o.count and time.time() - began < o.seconds:
        batches += 1
        if surface and batches % 16 == 0:
            picks = [len(names) - 1] * BATCH
            out, label, clean = surface.crops(BATCH, rng)
            original, mark = clean, torch.zeros_like(label)
        else:
            picks = [grounds.paintings[(batches * BATCH + b) % len(grounds.paintings)] for b in range(BATCH)]
            picks = [of[int(rng.integers(len(of)))] for of in picks]
            original, zone = (torch.cat(t) for t in zip(*(grounds.crop(k, rng) for k in picks)))
            out, label, clean, mark = painted(original, zone, rng, o.objects)
        out, clean, original = host(out), host(clean), host(original)
        label, mark = label.cpu(), mark.cpu()
        for b, painting in enumerate(picks):
            keep(out[b], label[b, 0], painting, True)
            if b % 5 == 2:
                bare = rng.random() < 0.4
                keep((original if bare else clean)[b], 0 if bare else mark[b, 0], painting, False)
    for j in jobs:
        j.result()
    torch.save({"x": x[:done], "lit": lit[:done], "painting": of[:done], "names": names}, o.out)
    print("%s: %d crops, %d without lamps, %.4f glare, %.0f s" % (
        o.out, done, int((~lit[:done]).sum()), float((x[:done][lit[:done], 3] == 255).float().mean()), time.time() - began), flush=True)


if __name__ == "__main__":
    main()
