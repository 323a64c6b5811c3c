"""Makes an integer model of a network of ../shared/tools/network-spike, trained in floating point on the planes `inv`.

  convert.py NET.pt OUT.blik|OUT.pt PICTURE...

OUT.pt keeps the weights before rounding, for tune.py.

A first layer of 1 × 1 turns the planes of planes.py into positive and negative parts of what the network was trained on, so
that 0 beyond the picture's edge stays 0 and large values are cut as they were. Normalisation is folded into the weights.
Each channel is scaled so that the largest activations on the pictures, of a 448 px part of each, fill the seven bits; the
next layer's weights make up for it, since ReLU is homogeneous. The kinds are unknown to such a network: their logits are −8.
"""
import sys

import cv2
import numpy as np
import torch
import torch.nn.functional as F

import integer
from model import UNIT, Net, integers, pyramid, resolutions
from planes import CHANNELS, planes_torch

WIDTHS = (12, 24, 40, 64, 64)
PARTS, INVERSE = 24, 9
FULL, LEAST, MOST = 7.9, 0.05, 16  # largest activation after scaling; bounds of an unscaled one and of a scale
RARE = 2e-5  # share of activations above the lower estimate of the largest
SIDE, SEED = 448, 3


def adapter():
    """Returns the weights and biases of the first layer, and how the trial's planes follow from its channels."""
    weight, bias = torch.zeros(PARTS, CHANNELS, 1, 1, dtype=torch.float64), torch.zeros(PARTS, dtype=torch.float64)
    back = torch.zeros(INVERSE, PARTS, dtype=torch.float64)
    at = 0

    def parts(plane, theirs, zero, top, slope):
        """max(a − zero, 0), max(zero − a, 0) and max(a − top, 0): slope times the first less the others."""
        nonlocal at
        for sign, offset, share in ((1, -zero, slope), (-1, zero, -slope), (1, -top, -slope))[:3 if top else 2]:
            weight[at, plane], bias[at], back[theirs, at] = sign, offset, share
            at += 1
    for plane, theirs in enumerate((0, 1, 2, 6)):
        parts(plane, theirs, 2, 5, 1.0)  # against the surroundings: at most 6 deviations
    for plane, theirs in enumerate((3, 4, 5, 7)):
        parts(4 + plane, theirs, 2, 0, 0.25)  # over the mean lightness
    parts(8, 8, 1, 4, 0.5)  # deviation over the mean lightness: at most 1
    return weight, bias, back


def trained(path):
    """Returns the specification and the layers of the network, None for a pool."""
    state = {k: v.double() for k, v in torch.load(path, map_location="cpu")["state"].items()}
    weight, bias, back = adapter()
    spec = [{"from": [-1], "out": PARTS, "kind": "conv1", "dilation": 1}]
    spec += [dict(l, **{"from": [s + 1 for s in l["from"]]}) for l in pyramid(WIDTHS)]
    layers, n = [(weight, bias)], len(WIDTHS)
    names = ["%s.%d" % (part, k) for k in range(n) for part in "da"] + ["%s.%d" % (part, k) for k in range(n - 2, -1, -1) for part in "ju"]
    for l in spec[1:-1]:
        if l["kind"] == "pool":
            layers.append(None)
            continue
        name = names.pop(0)
        scale = state[name + ".b.weight"] / torch.sqrt(state[name + ".b.running_var"] + 1e-5)
        weight = state[name + ".c.weight"] * scale[:, None, None, None]
        if name == "d.0":
            weight = torch.einsum("oihw,ij->ojhw", weight, back)
        layers.append((weight, state[name + ".b.bias"] - state[name + ".b.running_mean"] * scale))
    weight, bias = torch.zeros(4, WIDTHS[0], 1, 1, dtype=torch.float64), torch.full((4,), -8.0, dtype=torch.float64)
    weight[:1], bias[:1] = state["o.weight"], state["o.bias"]
    return spec, layers + [(weight, bias)]


def largest(spec, layers, rgb, least):
    """Raises least, for each layer the largest activations of its channels, to those on a picture."""
    resolution = [1] + resolutions(spec)
    done = [planes_torch(torch.from_numpy(rgb).permute(2, 0, 1)[None]).float() / UNIT]
    for i, (l, layer) in enumerate(zip(spec, layers)):
        sources = [s + 1 for s in l["from"]]
        fine = min(resolution[s] for s in sources)
        x = torch.cat([F.interpolate(done[s], scale_factor=resolution[s] // fine, mode="nearest") for s in sources], 1)
        if layer is None:
            x = F.avg_pool2d(x, 2)
        else:
            weight, bias = (t.float() for t in layer)
            x = F.relu(F.conv2d(x, weight, bias, 1, l["dilation"] if weight.shape[2] == 3 else 0, l["dilation"]))
            v = x[0].flatten(1)[:, ::7].sort(1)[0]
            now = torch.stack([v[:, -max(2, int(v.shape[1] * RARE))], v[:, -1]])
            least[i] = now if i not in least else torch.maximum(least[i], now)
        done.append(x)


def scaled(spec, layers, peaks):
    """Returns weights and biases with each channel scaled to the range of the integers."""
    scale, out = {-1: torch.ones(CHANNELS, dtype=torch.float64)}, []
    for i, (l, layer) in enumerate(zip(spec, layers)):
        into = torch.cat([scale[s] for s in l["from"]])
        if layer is None:
            scale[i] = into
            out.append(None)
            continue
        weight, bias = layer
        own = torch.ones(len(bias), dtype=torch.float64)
        if 0 < i < len(spec) - 1:
            # Between the rare and the very largest activations, so that few of them are cut.
            own = (FULL / peaks[i].prod(0).sqrt().clamp(min=LEAST)).double().clamp(max=MOST)
        weight, bias = weight / into[None, :, None, None] * own[:, None, None, None], bias * own
        if 0 < i < len(spec) - 1:
            # A channel that needs a quarter less at most uses the weights' eight bits better.
            fit = 127 / weight.abs().flatten(1).amax(1).clamp(min=1e-6)
            over = fit / 2 ** torch.floor(torch.log2(fit))
            less = torch.where(over > 1.5, over / 2, torch.ones_like(over))
            weight, bias, own = weight * less[:, None, None, None], bias * less, own * less
        scale[i] = own
        out.append((weight, bias))
    return out


def rounded(spec, layers):
    """Returns the network of model.py with these weights, in their precision, rounded from here on."""
    net = Net(spec)
    net.fold()
    for module, layer in zip(net.layers, layers):
        if layer is not None:
            module.conv.weight.data, module.conv.bias.data = layer
    return net


def converted(path, pictures):
    """Returns the specification, the layers as trained, and those scaled to integers."""
    spec, layers = trained(path)
    rng, peaks = np.random.default_rng(SEED), {}
    with torch.no_grad():
        for name in pictures:
            rgb = cv2.imread(name)[..., ::-1]
            y, x = (int(rng.integers(0, max(1, s - SIDE))) for s in rgb.shape[:2])
            rgb = rgb[y:y + SIDE, x:x + SIDE]
            rgb = rgb[:rgb.shape[0] // 16 * 16, :rgb.shape[1] // 16 * 16]
            largest(spec, layers, np.ascontiguousarray(rgb), peaks)
    return spec, layers, scaled(spec, layers, peaks)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    spec, layers, fitted = converted(sys.argv[1], sys.argv[3:])
    if sys.argv[2].endswith(".pt"):
        torch.save({"spec": spec, "trained": layers, "fitted": fitted}, sys.argv[2])
        return
    with open(sys.argv[2], "wb") as out:
        out.write(integer.pack(integers(rounded(spec, fitted))))


if __name__ == "__main__":
    main()
