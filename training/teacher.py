"""Teachers: the networks of ../shared/tools/network-spike, trained in floating point on planes of their own.

Their logits are averaged: on impasto that neither was trained on one is ahead, on foliage and on museum photographs the other, and
where they differ both are often wrong. Each sees the picture turned, mirrored and moved by chance, so that where the pyramid's grid
lies, and which way the picture lies, is not taught.
"""
import contextlib
import os
import sys

import torch
import torch.nn.functional as F

NAMES = ("C_u12-inv.pt", "D_u16-abs.pt")
SHIFT = 0.5  # the average is more careful than either
BOUND = 12


def means(v, side=33):
    """Means over squares, clipped to the picture, as nets.box; sums are several times as fast as its pooling."""
    for axis in (2, 3):
        n = v.shape[axis]
        at = torch.arange(n, device=v.device)
        low, high = (at - side // 2).clamp(min=0), (at + side // 2 + 1).clamp(max=n)
        total = F.pad(v.double().cumsum(axis), (1, 0) if axis == 3 else (0, 0, 1, 0))
        count = (high - low).view([-1, 1] if axis == 2 else [-1])
        v = ((total.index_select(axis, high) - total.index_select(axis, low)) / count).float()
    return v


class Teachers:
    def __init__(self, folder, device):
        sys.path.insert(0, folder)
        import nets
        nets.box = means
        self.planes, self.nets = nets.planes, []
        for name in NAMES:
            d = torch.load(os.path.join(folder, name), map_location=device)
            net, kind = nets.build(d["name"])
            net.load_state_dict(d["state"])
            answer = self.answer(net.to(device).float().eval().to(memory_format=torch.channels_last), kind)
            self.nets.append(torch.compile(answer) if device.type == "cuda" else answer)

    def answer(self, net, kind):
        return lambda x: net(self.planes(x, kind).contiguous(memory_format=torch.channels_last)).float().clamp(-BOUND, BOUND)

    @torch.no_grad()
    def __call__(self, rgb):
        """rgb: uint8 [batch, 3, h, w], sides multiples of 16 -> logits [batch, 1, h, w]"""
        x, total = rgb.float() / 255, 0
        for answer in self.nets:
            quarters, mirrored, *by = (int(n) for n in torch.randint(0, 16, (4,)))
            turned = torch.rot90(x.roll(by, (2, 3)).flip(3) if mirrored % 2 else x.roll(by, (2, 3)), quarters, (2, 3))
            with torch.autocast("cuda", torch.bfloat16) if x.is_cuda else contextlib.nullcontext():
                z = answer(turned.contiguous())
            z = torch.rot90(z, -quarters, (2, 3))
            total = total + (z.flip(3) if mirrored % 2 else z).roll([-n for n in by], (2, 3))
        return total / len(self.nets) + SHIFT
