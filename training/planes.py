"""The network's input: 16 planes of 0...127 at full resolution, exact in integers. Exposure hardly changes the first 12.

A pixel's surroundings are those of its cell of 2 x 2 pixels (an odd side is extended by its last row or column): the
17 x 17 cells around it, clipped to the picture, n pixels in all. m is the darkest channel, l the lightness
(R + 2 G + B + 2) >> 2; means and the deviation s are over the surroundings.

    0-3  R, G, B and m against their surroundings: (value - mean) / (s + 5/64 mean l + 3 levels) in eighths, 32 meaning 0
    4-7  R, G, B and m over the mean lightness: value / (mean l + 10 levels) in 32nds
      8  64 s / (mean l + 10 levels)
   9-11  32 mean R, mean B and mean m over (mean l + 10 levels)
  12-15  R, G, B and m, halved

`planes` is the definition in numpy, `planes_torch` the same for a batch on the device; they must agree exactly.
"""
import numpy as np

CHANNELS = 16
RADIUS = 8  # cells
SHIFT = 20


def window_sums(cells):
    """Returns sums over clipped windows of an int64 array [..., h, w]."""
    h, w = cells.shape[-2:]
    integral = np.zeros(cells.shape[:-2] + (h + 1, w + 1), np.int64)
    integral[..., 1:, 1:] = cells.cumsum(-2).cumsum(-1)
    y, x = np.arange(h), np.arange(w)
    y0, y1 = np.maximum(y - RADIUS, 0)[:, None], np.minimum(y + RADIUS + 1, h)[:, None]
    x0, x1 = np.maximum(x - RADIUS, 0)[None], np.minimum(x + RADIUS + 1, w)[None]
    return integral[..., y1, x1] - integral[..., y0, x1] - integral[..., y1, x0] + integral[..., y0, x0]


def planes(rgb):
    """uint8 [h, w, 3] -> uint8 [16, h, w]"""
    h, w = rgb.shape[:2]
    v = np.pad(rgb, ((0, h & 1), (0, w & 1), (0, 0)), mode="edge").astype(np.int64).transpose(2, 0, 1)
    v = np.concatenate([v, v.min(0, keepdims=True)])
    light = (v[0] + 2 * v[1] + v[2] + 2) >> 2
    by_cell = lambda t: t.reshape(t.shape[:-2] + (t.shape[-2] // 2, 2, t.shape[-1] // 2, 2)).sum((-3, -1))
    cells = by_cell(np.concatenate([v, light[None], (light * light)[None], np.ones_like(light)[None]]))
    s = window_sums(cells)
    n = s[6]
    deviation = np.floor(np.sqrt((n * s[5] - s[4] * s[4]).astype(np.float64))).astype(np.int64)
    gain = (8 << SHIFT) // (deviation + (5 * s[4] >> 6) + 3 * n)
    share = (32 << SHIFT) // (s[4] + 10 * n)
    spread = lambda t: t.repeat(2, -2).repeat(2, -1)
    half = 1 << SHIFT - 1
    scaled = v * spread(n)
    normal = ((scaled - spread(s[:4])) * spread(gain) + half) >> SHIFT
    ratio = (scaled * spread(share) + half) >> SHIFT
    around = np.stack([(2 * deviation * share + half) >> SHIFT] + [(s[c] * share + half) >> SHIFT for c in (0, 2, 3)])
    out = np.concatenate([32 + normal, ratio, spread(around), v >> 1])
    return np.clip(out, 0, 127).astype(np.uint8)[:, :h, :w]


def planes_torch(rgb):
    """uint8 tensor [batch, 3, h, w] with even sides -> uint8 [batch, 16, h, w]"""
    import torch
    b, _, h, w = rgb.shape
    v = rgb.int()
    v = torch.cat([v, v.amin(1, keepdim=True)], 1)
    light = (v[:, :1] + 2 * v[:, 1:2] + v[:, 2:3] + 2) >> 2
    stack = torch.cat([v, light, light * light, torch.ones_like(light)], 1)
    cells = stack.view(b, 7, h // 2, 2, w // 2, 2).sum((3, 5))
    integral = torch.nn.functional.pad(cells.cumsum(-2).cumsum(-1), (1, 0, 1, 0))
    y, x = torch.arange(h // 2, device=rgb.device), torch.arange(w // 2, device=rgb.device)
    y0, y1 = (y - RADIUS).clamp(min=0), (y + RADIUS + 1).clamp(max=h // 2)
    x0, x1 = (x - RADIUS).clamp(min=0), (x + RADIUS + 1).clamp(max=w // 2)
    rows = integral[:, :, y1] - integral[:, :, y0]
    s = rows[..., x1] - rows[..., x0]
    n = s[:, 6:7]
    deviation = (n * s[:, 5:6] - s[:, 4:5] * s[:, 4:5]).double().sqrt().floor().long()
    divide = lambda a, d: torch.div(a << SHIFT, d, rounding_mode="floor")
    gain = divide(torch.full_like(n, 8), deviation + (5 * s[:, 4:5] >> 6) + 3 * n)
    share = divide(torch.full_like(n, 32), s[:, 4:5] + 10 * n)
    spread = lambda t: t.int().repeat_interleave(2, 2).repeat_interleave(2, 3)
    half = 1 << SHIFT - 1
    scaled = v * spread(n)
    normal = ((scaled - spread(s[:, :4])) * spread(gain) + half) >> SHIFT
    ratio = (scaled * spread(share) + half) >> SHIFT
    means = torch.cat([s[:, :1], s[:, 2:4]], 1)
    around = torch.cat([(2 * deviation * share + half) >> SHIFT, (means * share + half) >> SHIFT], 1)
    return torch.cat([32 + normal, ratio, spread(around), v >> 1], 1).clamp(0, 127).to(torch.uint8)


if __name__ == "__main__":
    import torch
    rng = np.random.default_rng(1)
    for h, w in ((2, 2), (6, 40), (64, 50)):
        for top in (2, 40, 256):
            a = rng.integers(0, top, (h, w, 3)).astype(np.uint8)
            b = planes_torch(torch.from_numpy(a).permute(2, 0, 1)[None])[0].numpy()
            assert (planes(a) == b).all()
    print("planes agree")
