"""Teachers: the networks of ../shared/tools/network-spike, trained in floating point on planes of their own.

Their logits are averaged: on impasto that neither was trained on one is ahead, on foliage and on museum photographs the other, and
where they differ both are often wrong. Each sees the picture turned, mirrored and moved by chance, so that where the pyramid's grid
lies, and which way the picture lies, is not taught.
"""
import contextlib
import os
import sys

import torch

NAMES = ("C_u12-inv.pt", "D_u16-abs.pt")
SHIFT = 0.5  # the average is more careful than either
BOUND = 12


class Teachers:
    def __init__(self, folder, device):
        sys.path.insert(0, folder)
        import nets
        self.planes, self.nets = nets.planes, []
        for name in NAMES:
            d = torch.load(os.path.join(folder, name), map_location=device)
            net, kind = nets.build(d["name"])
            net.load_state_dict(d["state"])
            net = net.to(device).float().eval()
            self.nets.append((torch.compile(net.to(memory_format=torch.channels_last)) if device.type == "cuda" else net, kind))

    @torch.no_grad()
    def __call__(self, rgb):
        """rgb: uint8 [batch, 3, h, w], sides multiples of 16 -> logits [batch, 1, h, w]"""
        x, total = rgb.float() / 255, 0
        for net, kind in self.nets:
            quarters, mirrored, *by = (int(n) for n in torch.randint(0, 16, (4,)))
            turned = torch.rot90(x.roll(by, (2, 3)).flip(3) if mirrored % 2 else x.roll(by, (2, 3)), quarters, (2, 3))
            planes = self.planes(turned, kind)
            with torch.autocast("cuda", torch.bfloat16) if x.is_cuda else contextlib.nullcontext():
                z = net(planes.contiguous(memory_format=torch.channels_last)).float().clamp(-BOUND, BOUND)
            z = torch.rot90(z, -quarters, (2, 3))
            total = total + (z.flip(3) if mirrored % 2 else z).roll([-n for n in by], (2, 3))
        return total / len(self.nets) + SHIFT
