"""Networks: small graphs of convolutions on the planes of planes.py.

A specification is a list of layers, each a dict: `from` (earlier layers; -1 is the input; coarser ones are repeated), `kind`
(conv3, conv1, or pool: the average of 2 x 2), `out` channels, `dilation`. The last layer gives four channels at full
resolution: the logit of glare, and the logits of painted light, of edge or support, and of anything else against glare.

All activations are multiples of 1/16 in 0...127/16 once quantised, so that an integer network needs no scales: with weights
w = q / 2^s (q in -127...127, s one shift per output channel) a layer is clamp((sum q a + b) >> s, 0, 127).
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from planes import CHANNELS

UNIT = 16
TOP = 127 / UNIT
OUTPUTS = 4


def pyramid(widths, turns=False):
    """Two layers at each of several sizes, each half the one before, joined upwards by 1 x 1 and one more layer. With turns a
    picture turned or mirrored gives the same logits, turned or mirrored."""
    spec, own = [], []

    def add(source, out, kind="conv3", dilation=1):
        spec.append({"from": source, "out": out, "kind": kind, "dilation": dilation, "turns": turns})
        return len(spec) - 1
    last = -1
    for k, w in enumerate(widths):
        if k:
            last = add([last], widths[k - 1], "pool")
        last = add([last], w)
        last = add([last], w, dilation=2 if k == len(widths) - 1 else 1)
        own.append(last)
    for k in range(len(widths) - 2, -1, -1):
        last = add([own[k], last], widths[k], "conv1")
        last = add([last], widths[k])
    add([last], OUTPUTS, "conv1")
    return spec


WIDTHS = {"u12": (12, 24, 40, 64, 64), "u16": (16, 32, 48, 64, 64), "u24": (24, 40, 64, 96, 96)}
ZOO = {name + mark: pyramid(widths, bool(mark)) for name, widths in WIDTHS.items() for mark in ("", "t")}


def channels(spec, source):
    return CHANNELS if source < 0 else spec[source]["out"]


def resolutions(spec):
    """Returns the resolution of each layer's output: 1 is the picture's, 2 half of it."""
    out = []
    for l in spec:
        out.append(min(1 if s < 0 else out[s] for s in l["from"]) * (2 if l["kind"] == "pool" else 1))
    return out


def inputs(spec, l):
    return sum(channels(spec, s) for s in l["from"])


def cost(spec):
    """Returns the multiply-adds per pixel of the picture, and the number of weights."""
    macs = weights = 0
    for l, r in zip(spec, resolutions(spec)):
        n = {"conv3": 9, "conv1": 1, "pool": 0}[l["kind"]] * inputs(spec, l) * l["out"]
        macs, weights = macs + n / r ** 2, weights + n
    return macs, weights


def product(g, h):
    """The turn that does h first and then g; a turn is 0...7: quarter turns, from 4 on of the mirrored picture."""
    return (g + (-h if g >= 4 else h)) % 4 + 4 * ((g >= 4) != (h >= 4))


def moved(g, y, x, size):
    """Where the turn g takes a place of a square."""
    if g >= 4:
        x = size - 1 - x
    for _ in range(g % 4):
        y, x = x, size - 1 - y
    return y, x


def orbits(count):
    """Returns the channel that each of a layer's becomes with each of the eight turns: [8, count]. The first do not change; of the
    others each eight are one filter in eight directions."""
    fixed = count if count < 16 else 8 + count % 8
    out = np.tile(np.arange(count), (8, 1))
    for start in range(fixed, count, 8):
        for g in range(8):
            out[g, start:start + 8] = [start + product(g, h) for h in range(8)]
    return out


def alike(spec, l):
    """Returns the indices of the weights of a layer that are the same weight in eight directions: [8, weights]."""
    size = 1 if l["kind"] == "conv1" else 3
    start, sources = 0, []
    for s in l["from"]:
        n = channels(spec, s)
        sources.append(start + (np.tile(np.arange(n), (8, 1)) if s < 0 else orbits(n)))
        start += n
    sources = np.concatenate(sources, 1)
    out = orbits(l["out"])
    places = np.array([[np.dot(moved(g, y, x, size), (size, 1)) for y in range(size) for x in range(size)] for g in range(8)])
    return ((out[:, :, None] * start + sources[:, None, :])[..., None] * size ** 2 + places[:, None, None, :]).reshape(8, -1)


class Even(torch.autograd.Function):
    """Averages the weights that are to be the same; the projection is its own gradient."""
    @staticmethod
    def forward(ctx, x, same):
        ctx.save_for_backward(same)
        return x.flatten()[same].mean(0).view_as(x)

    @staticmethod
    def backward(ctx, g):
        return Even.apply(g.contiguous(), *ctx.saved_tensors), None


class Round(torch.autograd.Function):
    """Rounds half up; the gradient passes through unchanged."""
    @staticmethod
    def forward(ctx, x):
        return torch.floor(x + 0.5)

    @staticmethod
    def backward(ctx, g):
        return g


def shifts(weight):
    """Returns the shift of each output channel: the largest with |weight| * 2^shift <= 127."""
    top = weight.detach().flatten(1).abs().amax(1).clamp(min=1e-4)
    return torch.floor(torch.log2(127 / top)).clamp(0, 15)


class Layer(nn.Module):
    def __init__(self, spec, l, last):
        super().__init__()
        size = 1 if l["kind"] == "conv1" else 3
        self.conv = nn.Conv2d(inputs(spec, l), l["out"], size, 1, l["dilation"] if size == 3 else 0, l["dilation"], bias=last)
        self.norm = None if last else nn.BatchNorm2d(l["out"], momentum=0.02)
        self.last, self.exact, self.turns = last, False, l["turns"]
        if self.turns:
            self.register_buffer("same", torch.from_numpy(alike(spec, l)), persistent=False)
            self.register_buffer("members", torch.from_numpy(orbits(l["out"])), persistent=False)
            self.conv.weight.data *= 8 ** 0.5  # the average of eight has the usual deviation again
        if last:
            # The kinds are not taught: none of them is ever likelier than glare.
            nn.init.constant_(self.conv.weight[1:], 0.0)
            nn.init.constant_(self.conv.bias, -8.0)
            nn.init.constant_(self.conv.bias[:1], -4.0)

    def fold(self):
        """Folds the normalisation into the weights and quantises from here on."""
        self.conv.weight.data = self.weight().contiguous()
        if self.norm is not None:
            k = self.norm.weight.data / torch.sqrt(self.norm.running_var + self.norm.eps)
            bias = self.norm.bias.data - self.norm.running_mean * k
            if self.turns:
                k, bias = k[self.members].mean(0), bias[self.members].mean(0)
            self.conv.weight.data *= k[:, None, None, None]
            self.conv.bias = nn.Parameter(bias)
            self.norm = None
        self.exact = True

    def weight(self):
        return Even.apply(self.conv.weight, self.same) if self.turns else self.conv.weight

    def bias(self):
        return Even.apply(self.conv.bias, self.members) if self.turns else self.conv.bias

    def forward(self, x):
        if self.exact:
            w, b = self.weight(), self.bias()
            scale = torch.exp2(shifts(w))
            w = Round.apply(w * scale[:, None, None, None]).clamp(-127, 127) / scale[:, None, None, None]
            b = Round.apply(b * scale * UNIT) / (scale * UNIT)
            x = F.conv2d(x, w, b, 1, self.conv.padding, self.conv.dilation)
            x = Round.apply(x * UNIT) / UNIT
        else:
            x = F.conv2d(x, self.weight(), self.conv.bias, 1, self.conv.padding, self.conv.dilation)
            if self.norm is not None:
                x = self.norm(x)
        return x if self.last else x.clamp(0, TOP)


class Pool(nn.Module):
    exact = False

    def fold(self):
        self.exact = True

    def forward(self, x):
        x = F.avg_pool2d(x, 2)
        return Round.apply(x * UNIT) / UNIT if self.exact else x


class Net(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.spec = spec
        self.layers = nn.ModuleList(Pool() if l["kind"] == "pool" else Layer(spec, l, i == len(spec) - 1)
                                    for i, l in enumerate(spec))
        self.resolution = [1] + resolutions(spec)

    def fold(self):
        for l in self.layers:
            l.fold()

    def forward(self, planes):
        """planes: uint8 [batch, 16, h, w], sides multiples of 16 -> logits [batch, 4, h, w]"""
        x = planes.to(next(self.parameters()).dtype) / UNIT
        done = [x.contiguous(memory_format=torch.channels_last) if x.is_cuda else x]
        for l, module in zip(self.spec, self.layers):
            sources = [s + 1 for s in l["from"]]
            fine = min(self.resolution[s] for s in sources)
            parts = [done[s] if self.resolution[s] == fine else
                     F.interpolate(done[s], scale_factor=self.resolution[s] // fine, mode="nearest") for s in sources]
            done.append(module(parts[0] if len(parts) == 1 else torch.cat(parts, 1)))
        return done[-1]


def integers(net):
    """Returns the layers of a folded network for integer.pack."""
    out = []
    for l, r, module in zip(net.spec, resolutions(net.spec), net.layers):
        layer = dict(l, **{"in": inputs(net.spec, l), "resolution": r})
        if l["kind"] != "pool":
            weight, bias = module.weight().detach().double().cpu(), module.bias().detach().double().cpu()
            shift = shifts(weight)
            scale = torch.exp2(shift)
            layer["q"] = torch.floor(weight * scale[:, None, None, None] + 0.5).clamp(-127, 127).numpy().astype(np.int8)
            layer["b"] = torch.floor(bias * scale * UNIT + 0.5).numpy().astype(np.int32)
            layer["s"] = shift.numpy().astype(np.uint8)
        out.append(layer)
    return out


@torch.no_grad()
def whole(net, rgb, strip=1024, margin=192):
    """Logits of a whole picture: uint8 tensor [3, h, w] -> float [4, h, w] on the host. Sides are padded to multiples of 16
    by repetition, which the integer network does not do: within its reach of the last rows and columns they may differ."""
    from planes import planes_torch
    device = next(net.parameters()).device
    h, w = rgb.shape[1:]
    padded = F.pad(rgb[None].float(), (0, -w % 16, 0, -h % 16), mode="replicate").to(torch.uint8)
    rows = padded.shape[2]
    out = []
    for y in range(0, rows, strip):
        a, b = max(0, y - margin), min(rows, y + strip + margin)
        z = net(planes_torch(padded[:, :, a:b].to(device)))
        out.append(z[0, :, y - a:y - a + min(strip, rows - y)].float().cpu())
    return torch.cat(out, 1)[:, :h, :w]
