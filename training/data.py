"""Draws augmented patches of rendered crops and of photographs on the device.

A folder of photographs holds NAME.jpg, its label map NAME_lab.png (label.py: 255 glare, 64 painted light, 65 edge or support,
66 other; all else counts as not looked at), and zones.json: per cent left, right, top and bottom that are frame or support. Photographs
whose names differ only after "__" are one painting, as are the pictures of a stack of lamps.
"""
import concurrent.futures
import json
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

from render import picture

SHARES = (0.32, 0.08, 0.60)  # rendered with lamps, rendered without, photographs
SMALLER = (2.5, 3.5, 5, 7)  # photographs made smaller: painted lights of a few pixels; nothing in them is glare
SMALL_SHARE = 0.18
FEW = 12  # photographs with more labelled glints are not made smaller: theirs would still be seen
GLARE_SHARE, HARD_SHARE = 0.35, 0.25  # photographs: patches about labelled glare, about labelled lights that are not
OFTEN = 2  # times as often as others are paintings with labelled glare drawn
GAMMA, EXPOSED = 0.25, 0.45  # range of the logarithm of gamma, share of patches at another exposure
# Paintings with many labelled glints, with few, and with none are in every fold.
FOLDS = (
    "n_dance_hall_van_gogh p014 p043 p013 stack_icon n_bedroom_van_gogh p015 n_swing_renoir crop_p005".split(),
    "n_impression_sunrise_monet p008 p024 p018 n_boating_party_renoir p016 n_harvesters_bruegel p031 n_the_scream_munch".split(),
    "n_sunflowers_van_gogh crop_p009 p002 p011 stack_fattori n_monet_family_manet p020 n_grey_felt_hat_van_gogh p033".split(),
    "n_seaport_vernet p003 p012 stack_door n_chrysanthemums_caillebotte n_poets_garden_van_gogh n_mont_sainte_victoire_cezanne p035 p038".split(),
)


def painting(name):
    return name.split("__")[0]


def fold_of(name):
    """Returns the fold of a painting; unknown ones, the measured surface among them, are in none."""
    return next((k for k, names in enumerate(FOLDS) if painting(name) in names), None)


class Store:
    """All sources in flat arrays on the device: source k has pixels first[k] + y * width[k] + x."""

    def __init__(self, device):
        self.device, self.parts, self.height, self.width, self.kind, self.name = device, [], [], [], [], []
        self.places = []  # for each source: places of glare, and of hard negatives (y, x)

    def add(self, planes, kind, name, places=((), ())):
        """planes: uint8 [4, h, w]: R, G, B, label."""
        self.parts.append(planes.to(self.device).permute(1, 2, 0).reshape(-1, 4))
        self.height.append(planes.shape[1])
        self.width.append(planes.shape[2])
        self.kind.append(kind)
        self.name.append(name)
        self.places.append([np.asarray(p, np.float64).reshape(-1, 2) for p in places])

    def close(self):
        self.first = np.concatenate([[0], np.cumsum([len(p) for p in self.parts])])[:-1]
        self.pixels = torch.cat(self.parts)
        self.parts = None
        # Of a photograph people only think that they know; renderings and stacks of lamps are certain.
        certain = [k != "photo" or n.startswith("stack_") for k, n in zip(self.kind, self.name)]
        self.certain = torch.tensor(certain, device=self.device)
        self.sizes = torch.tensor([*zip(self.first, self.height, self.width)], dtype=torch.long, device=self.device)
        self.of = {}
        for k in range(len(self.kind)):
            self.of.setdefault((self.kind[k], painting(self.name[k])), []).append(k)


def photograph(folder, name):
    """Returns planes and places of a labelled photograph."""
    from scipy import ndimage
    rgb = picture(os.path.join(folder, name + ".jpg"))
    label = picture(os.path.join(folder, name + "_lab.png"))[0].numpy()
    marked = (label == 255) | ((label >= 64) & (label <= 66))
    part, _ = ndimage.label(marked, np.ones((3, 3)))
    places = [], []
    for k, box in enumerate(ndimage.find_objects(part)):
        kind = label[box][part[box] == k + 1][0]
        places[0 if kind == 255 else 1].append([(s.start + s.stop) / 2 for s in box])
    return torch.cat([rgb, torch.from_numpy(label)[None]]), places


def load(rendered, folder, device, skip):
    """Returns a Store of rendered crops and labelled photographs."""
    store = Store(device)
    for path in rendered:
        d = torch.load(path)
        for x, lit, of in zip(d["x"], d["lit"].tolist(), d["painting"].tolist()):
            if painting(d["names"][of]) not in skip:
                store.add(x, "lit" if lit else "clean", d["names"][of])
    names = [f[:-8] for f in sorted(os.listdir(folder)) if f.endswith("_lab.png") and painting(f[:-8]) not in skip]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for name, (planes, places) in zip(names, pool.map(lambda n: photograph(folder, n), names)):
            store.add(planes, "photo", name, places)
            if name.startswith(("stack_", "crop_")) or len(places[0]) > FEW:
                continue
            for k in SMALLER:
                h, w = (int(s / k) for s in planes.shape[1:])
                if min(h, w) >= 260:
                    small = F.interpolate(planes[None, :3].float(), size=(h, w), mode="bilinear", antialias=True)[0]
                    store.add(F.pad(small.round().to(torch.uint8), (0, 0, 0, 0, 0, 1)), "small", name)
            print(name, "glare", len(places[0]), "other", len(places[1]), flush=True)
    store.close()
    return store


def sampled(pixels, sizes, corners, flips, n):
    """Samples patches of n x n pixels of sources: sizes [batch, 3] are first pixel, height and width, corners [3, batch] top, left
    and scale, flips [3, batch, 1, 1] whether rows and columns are exchanged, rows and columns reversed."""
    first, tall, wide = (v.view(-1, 1, 1) for v in sizes.unbind(1))
    y0, x0, z = (v.view(-1, 1, 1) for v in corners)
    h, w = tall.float(), wide.float()
    r = torch.arange(n, device=pixels.device, dtype=torch.float32)
    v, u = (r.view(1, n, 1) * z).expand(-1, n, n), (r * z).expand(-1, n, n)
    v, u = torch.where(flips[0], u, v), torch.where(flips[0], v, u)
    span = z * (n - 1)
    v, u = torch.where(flips[1], span - v, v) + y0, torch.where(flips[2], span - u, u) + x0
    nearest = pixels[first + (v + 0.5).long().minimum(tall - 1) * wide + (u + 0.5).long().minimum(wide - 1)][..., 3]
    colour = glare = 0
    offset = (z - 1).clamp(min=0) / 4
    for a, b in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        y = torch.minimum((v + a * offset).clamp(min=0), h - 1.001)
        x = torch.minimum((u + b * offset).clamp(min=0), w - 1.001)
        j, i = y.long(), x.long()
        fy, fx = y - j, x - i
        base = first + j * wide + i
        for dy, dx, share in ((0, 0, (1 - fy) * (1 - fx)), (0, 1, (1 - fy) * fx), (1, 0, fy * (1 - fx)), (1, 1, fy * fx)):
            px = pixels[base + dy * wide + dx]
            share = share / 4
            colour = colour + px[..., :3].float() * (share / 255)[..., None]
            glare = glare + share * (px[..., 3] == 255)
    return colour.permute(0, 3, 1, 2), glare[:, None], nearest[:, None]


class Batches:
    def __init__(self, store, seed, batch, side):
        self.pinned = store.device.type == "cuda"
        self.sampled = torch.compile(sampled) if self.pinned else sampled
        self.store, self.batch, self.side, self.device = store, batch, side, store.device
        self.rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.paintings = {k: sorted({p for kind, p in store.of if kind == k}) for k in ("lit", "clean", "photo", "small")}
        self.paintings = {k: v for k, v in self.paintings.items() if v}
        glare = {painting(n) for n, places in zip(store.name, store.places) if len(places[0])}
        self.paintings["photo"] = [p for p in self.paintings["photo"] for _ in range(OFTEN if p in glare else 1)]

    def uniform(self, low, high, channels=1):
        return low + (high - low) * torch.rand(self.batch, channels, 1, 1, device=self.device)

    def chance(self, p):
        return (torch.rand(self.batch, 1, 1, 1, device=self.device) < p).float()

    def draw(self):
        """Returns source, top, left, and scale (source pixels a pixel of the patch) of each patch: float64 [4, batch]."""
        s, rng, n = self.store, self.rng, self.side
        rows = []
        for kind in rng.choice(3, self.batch, p=SHARES):
            kind = ("lit", "clean", "photo")[kind]
            if kind == "photo" and rng.random() < SMALL_SHARE:
                kind = "small"
            names = self.paintings[kind]
            of = s.of[kind, names[int(rng.integers(len(names)))]]
            k = of[int(rng.integers(len(of)))]
            scale = math.exp(rng.uniform(math.log(0.55), math.log(1.8))) if rng.random() < 0.5 else 1.0
            scale = min(scale, (s.height[k] - 1) / n, (s.width[k] - 1) / n)
            u = rng.random()
            places = s.places[k][0] if u < GLARE_SHARE else s.places[k][1] if u < GLARE_SHARE + HARD_SHARE else ()
            span, corner = scale * (n - 1), []
            about = places[int(rng.integers(len(places)))] if len(places) else None
            for axis, size in enumerate((s.height[k], s.width[k])):
                at = rng.uniform(0, size - 1 - span) if about is None else about[axis] - rng.uniform(0.1, 0.9) * span
                at = min(max(at, 0), size - 1 - span)
                corner.append(math.floor(at) if scale == 1 else at)
            rows.append((k, *corner, scale))
        return np.array(rows).T

    def gather(self, drawn):
        """Returns colour of 0...1, share of glare, and label of the nearest pixel."""
        flips = torch.rand(3, self.batch, 1, 1, device=self.device) < 0.5
        return self.sampled(self.store.pixels, self.store.sizes[drawn[0].long()], drawn[1:].float(), flips, self.side)

    def blurred(self, x, sigma):
        r = max(1, int(3 * sigma + 0.5))
        k = torch.exp(-0.5 * (torch.arange(-r, r + 1, device=self.device) / sigma) ** 2)
        k = (k / k.sum()).view(1, 1, 1, -1).repeat(3, 1, 1, 1)
        x = F.conv2d(F.pad(x, (r, r, 0, 0), mode="reflect"), k, groups=3)
        return F.conv2d(F.pad(x, (0, 0, r, r), mode="reflect"), k.transpose(2, 3), groups=3)

    def optics(self, x):
        """Varies sharpness."""
        u, rng = self.uniform, self.rng
        if rng.random() < 0.4:
            m = self.chance(0.6)
            x = x * (1 - m) + m * self.blurred(x, float(rng.uniform(0.35, 1.1)))
        if rng.random() < 0.35:
            x = x + u(0, 1.2) * (x - self.blurred(x, float(rng.uniform(0.7, 1.3))))
        return x

    def exposed(self, x):
        """Varies gamma, exposure from -2 to +1 stops, tint and colour."""
        u = self.uniform
        x = x.clamp(0, 1) ** torch.exp(u(-GAMMA, GAMMA))
        x = x * torch.exp(u(-0.65, 0.35) * self.chance(EXPOSED)) * torch.exp(u(-0.12, 0.12, 3))
        grey = self.chance(0.05)
        return x * (1 - grey) + grey * x.mean(1, keepdim=True)

    def border(self, x, labels):
        """Puts a flat strip, dark or light, beyond a straight edge, in a sixth of the patches; nothing there is glare."""
        u, n = self.uniform, self.side
        on = self.chance(0.16)
        turn = torch.randint(4, (self.batch, 1, 1, 1), device=self.device) * math.pi / 2 + u(-0.03, 0.03)
        r = torch.linspace(-1, 1, n, device=self.device)
        d = (r.view(1, 1, 1, -1) * torch.cos(turn) + r.view(1, 1, -1, 1) * torch.sin(turn) - u(0.3, 0.95)) * n / 2
        level = torch.where(self.chance(0.5) > 0, u(0, 0.08), u(0.6, 1))
        strip = on * torch.sigmoid(d * u(0.8, 4))
        x = x * (1 - strip) + strip * level
        x = x + on * torch.exp(-(d / u(1, 4)) ** 2) * u(-0.5, 0.5) * self.chance(0.5) * (1 - 0.3 * strip)
        inside = strip < 0.05
        return x, [label & inside for label in labels]

    def next(self):
        """Returns pictures uint8 [n, 3, side, side], as photographed and as exposed otherwise; what is glare, and what a person
        judged, and painted light for certain, [n, 1, side, side]; whether the truth is certain, [n, 1, 1, 1]; and the source of
        each patch."""
        drawn = self.draw()
        # From pinned memory the copy does not wait for the device.
        on = torch.from_numpy(drawn).pin_memory().to(self.device, non_blocking=True) if self.pinned else torch.from_numpy(drawn)
        x, share, nearest = self.gather(on)
        glare = share > 0.5
        light = (nearest >= 64) & (nearest <= 66) & ~glare
        x, (glare, light) = self.border(self.optics(x), (glare, light))
        x = (x + torch.randn_like(x) * 10 ** self.uniform(-3.2, -1.75)).clamp(0, 1)
        certain = self.store.certain[on[0].long()].view(-1, 1, 1, 1)
        whole = lambda v: (v.clamp(0, 1) * 255 + 0.5).to(torch.uint8)
        return (whole(x), whole(self.exposed(x)), glare, (glare | light) & ~certain, light & certain, certain,
                drawn[0].astype(int))
