"""Networks: small graphs of convolutions on the planes of planes.py.

A specification is a list of layers, each a dict: `from` (earlier layers; -1 is the input, -2 its pixels at full
resolution; coarser layers are repeated), `kind` (conv3, conv1, depth3), `out` channels, `dilation`, `stride`. Resolution 2
means half that of the picture.
The last layer gives logits: at half resolution, four channels for the pixels of a cell, in the order of pixel_shuffle.

All activations are multiples of 1/16 in 0...127/16 once quantised, so that an integer network needs no scales: with weights
w = q / 2^s (q in -127...127, s one shift per output channel) a layer is clamp((sum q a + b) >> s, 0, 127).
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from planes import CHANNELS

UNIT = 16
TOP = 127 / UNIT


def layer(source, out, kind="conv3", dilation=1, stride=1):
    return {"from": list(source) if isinstance(source, (list, tuple)) else [source], "out": out, "kind": kind,
            "dilation": dilation, "stride": stride}


def plain(width, dilations):
    """Layers of equal width at half resolution."""
    spec = [layer(i - 1, width, dilation=d) for i, d in enumerate(dilations)]
    return spec + [layer(len(spec) - 1, 4, "conv1")]


def separable(width, dilations):
    """A full first layer, then pairs of a depthwise and a pointwise one."""
    spec = [layer(-1, width)]
    for d in dilations:
        spec.append(layer(len(spec) - 1, width, "depth3", dilation=d))
        spec.append(layer(len(spec) - 1, width, "conv1"))
    return spec + [layer(len(spec) - 1, 4, "conv1")]


def quarter(fine, coarse, dilations, stem=2):
    """A stem at half resolution, joined with context at a quarter."""
    spec = [layer(i - 1, fine) for i in range(stem)]
    spec.append(layer(stem - 1, coarse, stride=2))
    spec += [layer(stem + i, coarse, dilation=d) for i, d in enumerate(dilations)]
    spec.append(layer(len(spec) - 1, fine, "conv1"))
    spec.append(layer([stem - 1, len(spec) - 1], fine))
    return spec + [layer(len(spec) - 1, 4, "conv1")]


def thrifty(fine, coarse, dilations):
    """A stem whose first layer mixes the planes by 1 x 1, joined with context at a quarter by 1 x 1."""
    spec = [layer(-1, fine, "conv1"), layer(0, fine), layer(1, coarse, stride=2)]
    spec += [layer(2 + i, coarse, dilation=d) for i, d in enumerate(dilations)]
    spec.append(layer([1, len(spec) - 1], fine, "conv1"))
    spec.append(layer(len(spec) - 1, fine))
    return spec + [layer(len(spec) - 1, 4, "conv1")]


def full(width, dilations):
    """Layers of equal width at full resolution."""
    spec = [layer(i - 1 if i else -2, width, dilation=d) for i, d in enumerate(dilations)]
    return spec + [layer(len(spec) - 1, 1, "conv1")]


ZOO = {
    "s16": full(16, (1, 1, 2, 4, 8, 1)),
    "h12": plain(12, (1, 1, 2, 4, 2, 1)),
    "h16": plain(16, (1, 1, 2, 4, 2, 1)),
    "h24": plain(24, (1, 1, 2, 4, 2, 1)),
    "h32": plain(32, (1, 1, 2, 4, 2, 1)),
    "h24x4": plain(24, (1, 2, 4, 1)),
    "q16": quarter(16, 32, (1, 2, 1)),
    "q24": quarter(24, 48, (1, 2, 1)),
    "t12": thrifty(12, 24, (1, 2, 4, 1)),
    "t16": thrifty(16, 32, (1, 2, 4, 1)),
    "t24": thrifty(24, 48, (1, 2, 4, 1)),
    "p32": separable(32, (1, 1, 2, 4, 2, 1)),
    "teacher": plain(96, (1, 1, 2, 1, 4, 1, 2, 1, 4, 1)),
}


def channels(spec, source):
    return {-1: CHANNELS, -2: 8}.get(source) or spec[source]["out"]


def resolutions(spec):
    """Returns the resolution of each layer's output: 2 for half, 4 for a quarter."""
    out = []
    for l in spec:
        out.append(min({-1: 2, -2: 1}.get(s) or out[s] for s in l["from"]) * l["stride"])
    return out


def inputs(spec, l):
    return sum(channels(spec, s) for s in l["from"])


def cost(spec):
    """Returns the multiply-adds per pixel of the picture, and the number of weights."""
    macs = weights = 0
    for l, r in zip(spec, resolutions(spec)):
        n = {"conv3": 9 * inputs(spec, l), "conv1": inputs(spec, l), "depth3": 9}[l["kind"]] * l["out"]
        macs, weights = macs + n / r ** 2, weights + n
    return macs, weights


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
        groups = l["out"] if l["kind"] == "depth3" else 1
        pad = l["dilation"] if size == 3 else 0
        self.conv = nn.Conv2d(inputs(spec, l), l["out"], size, l["stride"], pad, l["dilation"], groups, bias=last)
        self.norm = None if last else nn.BatchNorm2d(l["out"], momentum=0.03)
        self.last, self.exact = last, False
        if last:
            nn.init.constant_(self.conv.bias, -4.0)

    def fold(self):
        """Folds the normalisation into the weights and quantises from here on."""
        if self.norm is not None:
            k = self.norm.weight.data / torch.sqrt(self.norm.running_var + self.norm.eps)
            bias = self.norm.bias.data - self.norm.running_mean * k
            self.conv.weight.data *= k[:, None, None, None]
            self.conv.bias = nn.Parameter(bias)
            self.norm = None
        self.exact = True

    def quantised(self):
        w, b = self.conv.weight, self.conv.bias
        scale = torch.exp2(shifts(w))
        q = Round.apply(w * scale[:, None, None, None]).clamp(-127, 127) / scale[:, None, None, None]
        return q, Round.apply(b * scale * UNIT) / (scale * UNIT)

    def forward(self, x):
        if self.exact:
            w, b = self.quantised()
            x = F.conv2d(x, w, b, self.conv.stride, self.conv.padding, self.conv.dilation, self.conv.groups)
            x = Round.apply(x * UNIT) / UNIT
        else:
            x = self.conv(x)
            if self.norm is not None:
                x = self.norm(x)
        return x if self.last else x.clamp(0, TOP)


class Net(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.spec = spec
        self.layers = nn.ModuleList(Layer(spec, l, i == len(spec) - 1) for i, l in enumerate(spec))

    def fold(self):
        for l in self.layers:
            l.fold()

    def forward(self, planes):
        """planes: uint8 [batch, 24, h, w] -> logits [batch, 1, 2h, 2w]"""
        x = planes.to(next(self.parameters()).dtype) / UNIT
        spread = lambda t, n: t.repeat_interleave(n, 2).repeat_interleave(n, 3)
        done, res = {-1: x.contiguous(memory_format=torch.channels_last)}, {-1: 2, -2: 1}
        if self.spec[0]["from"] == [-2]:
            done[-2] = torch.cat([F.pixel_shuffle(x[:, :16], 2), spread(x[:, 16:20], 2)], 1)
            done[-2] = done[-2].contiguous(memory_format=torch.channels_last)
        for i, (l, module) in enumerate(zip(self.spec, self.layers)):
            fine = min(res[s] for s in l["from"])
            size = next(done[s].shape[2:] for s in l["from"] if res[s] == fine)
            parts = [done[s] if res[s] == fine else spread(done[s], res[s] // fine)[..., :size[0], :size[1]] for s in l["from"]]
            done[i] = module(parts[0] if len(parts) == 1 else torch.cat(parts, 1))
            res[i] = fine * l["stride"]
        last = done[len(self.spec) - 1]
        return F.pixel_shuffle(last, 2) if last.shape[1] == 4 else last
