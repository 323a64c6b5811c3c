"""The network's input: 24 planes at half resolution, 0...127, exact in integers.

For every cell of 2 x 2 pixels (an odd side is extended by its last row or column):
   0-15  each pixel's R, G, B and darkest channel relative to its surroundings: (value - mean) / (deviation + 8 levels), eighths,
         32 meaning 0; plane 4 * channel + 2 * row + column of the pixel in its cell
  16-19  half the cell's mean of R, G, B and the darkest channel
  20-22  half the mean of R, G and B over the surroundings
  23     twice the deviation of the lightness (R + 2 G + B) / 4 over the surroundings
The surroundings are the 17 x 17 cells around the cell, clipped to the picture.

`planes` is the definition in numpy, `planes_torch` the same for a batch on the device; they must agree exactly.
"""
import numpy as np

CHANNELS = 24
RADIUS = 8  # cells
EASE = 8  # levels added to the deviation, so that noise on flat paint is not blown up
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
    """uint8 [h, w, 3] -> uint8 [24, ceil(h/2), ceil(w/2)]"""
    h, w = rgb.shape[:2]
    v = np.pad(rgb, ((0, h & 1), (0, w & 1), (0, 0)), mode="edge").astype(np.int64).transpose(2, 0, 1)
    v = np.concatenate([v, v.min(0, keepdims=True)])
    light = (v[0] + 2 * v[1] + v[2] + 2) >> 2
    by_pixel = v.reshape(4, v.shape[1] // 2, 2, -1, 2).transpose(0, 2, 4, 1, 3)  # channel, row, column, cell
    cell = by_pixel.sum((1, 2))
    light = light.reshape(cell.shape[1], 2, -1, 2)
    stack = np.concatenate([cell, light.sum((1, 3))[None], (light * light).sum((1, 3))[None], np.full_like(cell[:1], 4)])
    s = window_sums(stack)
    n = s[6]
    deviation = np.floor(np.sqrt((n * s[5] - s[4] * s[4]).astype(np.float64))).astype(np.int64)
    gain = (8 << SHIFT) // (deviation + EASE * n)
    normal = ((by_pixel * n - s[:4, None, None]) * gain + (1 << SHIFT - 1)) >> SHIFT
    out = [np.clip(32 + normal, 0, 127).reshape(16, *n.shape), cell >> 3, s[:3] // (2 * n), np.minimum(2 * deviation // n, 127)[None]]
    return np.concatenate(out).astype(np.uint8)


def planes_torch(rgb):
    """uint8 tensor [batch, 3, h, w] with even sides -> uint8 [batch, 24, h/2, w/2]"""
    import torch
    b, _, h, w = rgb.shape
    v = rgb.int()
    v = torch.cat([v, v.amin(1, keepdim=True)], 1)
    light = (v[:, 0] + 2 * v[:, 1] + v[:, 2] + 2) >> 2
    by_pixel = v.view(b, 4, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4)
    cell = by_pixel.sum((2, 3))
    light = light.view(b, 1, h // 2, 2, w // 2, 2)
    stack = torch.cat([cell, light.sum((3, 5)), (light * light).sum((3, 5)), torch.full_like(cell[:, :1], 4)], 1).long()
    integral = torch.zeros(b, 7, h // 2 + 1, w // 2 + 1, dtype=torch.long, device=rgb.device)
    integral[..., 1:, 1:] = stack.cumsum(-2).cumsum(-1)
    y, x = torch.arange(h // 2, device=rgb.device), torch.arange(w // 2, device=rgb.device)
    y0, y1 = (y - RADIUS).clamp(min=0), (y + RADIUS + 1).clamp(max=h // 2)
    x0, x1 = (x - RADIUS).clamp(min=0), (x + RADIUS + 1).clamp(max=w // 2)
    rows = integral[:, :, y1] - integral[:, :, y0]
    s = rows[..., x1] - rows[..., x0]
    n = s[:, 6:7]
    deviation = (n * s[:, 5:6] - s[:, 4:5] * s[:, 4:5]).double().sqrt().floor().long()
    gain = torch.div(8 << SHIFT, deviation + EASE * n, rounding_mode="floor")
    difference = by_pixel * n[:, :, None, None] - s[:, :4, None, None]
    normal = (difference * gain[:, :, None, None] + (1 << SHIFT - 1)) >> SHIFT
    out = [(32 + normal).clamp(0, 127).reshape(b, 16, h // 2, w // 2), cell >> 3,
           torch.div(s[:, :3], 2 * n, rounding_mode="floor"), torch.div(2 * deviation, n, rounding_mode="floor").clamp(max=127)]
    return torch.cat([o.to(torch.uint8) for o in out], 1)
