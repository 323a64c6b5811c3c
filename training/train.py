"""Trains networks side by side on the same batches: on all paintings, and with a fold of them left out.

  train.py PHOTOS TEACHERS OUT RENDERED.pt... --nets u16:all:1,u16:all:2 [--seconds N] [--steps N] [--skip p005,p009]

A network is ARCHITECTURE:FOLDS:SEED; the paintings of the folds, such as 0 or 01, are left out, of `all` none. What the
teachers (teacher.py, in the folder TEACHERS) say of a picture as photographed is the target, whatever the exposure; on renderings
and stacks of lamps the truth corrects it. OUT gets NET.pt and NET.blik of each, and log.json.

With --start the networks of FOLDER, an earlier OUT, are tuned; half of a result's weights are then those it started with. That
keeps what tuning would forget (Wortsman et al. 2022, Robust fine-tuning of zero-shot models).
"""
import argparse
import contextlib
import copy
import json
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

import data
import integer
from model import Net, ZOO, cost, integers
from planes import planes_torch
from teacher import Teachers

RATE, TUNING, DECAY = 3e-3, 8e-4, 1e-4
EXACT = 0.7  # share of the steps after which weights and activations are rounded
KEEP = 0.004  # share of the newest weights in their average
STRONG = 30  # weight of a pixel that the teachers are sure of, in those that they are sure are paint
LIT = 2.0  # what a certain truth adds to the teachers' logits of glare
PAINTED, HELD = -3.0, 4  # logit of drawn lights (objects.py), at most; how many times the weight of sure glare they have
EVEN = 4.0  # weight of how much what is found changes with where a patch lies; of two seeds one diverges at 10
AGAIN = 16  # patches of a batch that are seen a second time, moved
RECENT = 0.005  # share of the newest loss in the average that is printed
RANK = 0.1  # weight of differences between logits, where there may be glare: strength is their sum


def loss(z, told, glare, judged, painted, certain):
    """Cross-entropy with what the teachers say, corrected where the truth is certain, and the difference to their logits where
    there may be glare; without places that a person judged."""
    told = told + LIT * (certain & glare)
    told = torch.where(painted, told.clamp(max=PAINTED), told)
    target = torch.sigmoid(told)
    share = (1 + STRONG * torch.maximum(target, HELD * painted.float())) * ~judged
    entropy = F.binary_cross_entropy_with_logits(z, target, reduction="none")
    near = (~judged & (told > -2)).float()
    rank = F.smooth_l1_loss(z, told, reduction="none")
    return 4 * (entropy * share).sum() / share.sum() + RANK * (rank * near).sum() / (near.sum() + 500)


def unevenness(z, told, by):
    """How much what is found depends on where a patch lies: the first ones are seen again at the end of the batch, moved."""
    down, right = by
    # In the logarithm, so that smaller logits are no way to be even.
    found, near = torch.log1p(4 * F.avg_pool2d(z.clamp(min=0), 5, 1, 2)), (F.max_pool2d(told[:AGAIN], 9, 1, 4) > -1).float()
    first, near, again = found[:AGAIN, :, down:, right:], near[:, :, down:, right:], found[-AGAIN:, :, :-down, :-right]
    return (F.smooth_l1_loss(first, again, reduction="none", beta=0.25) * near).sum() / (near.sum() + 500)


def seen_again(values, by):
    """Puts the first patches of a batch, moved up and to the left, in place of the last ones."""
    for v in values:
        y, x = ((torch.arange(v.shape[-1], device=v.device) + n).clamp(max=v.shape[-1] - 1) for n in by)
        v[-AGAIN:] = v[:AGAIN, :, y][..., x]


def of_these(learned, out):
    """Returns the patches of a batch for a network without the folds out: always as many, because each new size of a batch is slow at
    first, and those seen again with those at the start."""
    batch = len(learned)
    count = batch * (len(data.FOLDS) - len(out)) // len(data.FOLDS)
    first = np.resize(np.flatnonzero(learned[:AGAIN]), AGAIN)
    once = np.resize(np.flatnonzero(learned[AGAIN:-AGAIN]) + AGAIN, max(0, count - 2 * AGAIN))
    return np.concatenate([first, once, first + batch - AGAIN])


class Trainee:
    def __init__(self, name, device, start=None):
        self.name, self.rate = name, TUNING if start else RATE
        architecture, fold, seed = name.split(":")
        torch.manual_seed(int(seed))
        self.out = {int(c) for c in fold if fold != "all"}
        self.net = Net(ZOO[architecture]).to(device)
        if device.type == "cuda":
            self.net.to(memory_format=torch.channels_last)
        self.average = self.start = None
        if start:
            self.net.fold()
            self.net.to(device)
            self.net.load_state_dict(torch.load(os.path.join(start, name.replace(":", "-") + ".pt"), map_location=device)["state"])
            self.average, self.start = copy.deepcopy(self.net), copy.deepcopy(self.net)
        self.answer = torch.compile(self.net) if device.type == "cuda" else self.net
        self.optimise()

    def learns(self, name):
        return data.fold_of(name) not in self.out

    def optimise(self):
        fused = {"fused": True} if next(self.net.parameters()).is_cuda else {}
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=self.rate, weight_decay=DECAY, **fused)

    def step(self, done, step, planes, told, labels, by):
        """One step; done is the share of the training that is over."""
        if done > EXACT and self.average is None:
            self.net.fold()
            self.optimise()
            self.average = copy.deepcopy(self.net)
        rate = self.rate * min(1, step / 100 + 0.05) * (0.5 * (1 + np.cos(np.pi * min(1, done))) + 0.003)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        # Rounded weights and activations have at most 8 bits, which bfloat16 holds.
        with torch.autocast("cuda", torch.bfloat16) if planes.is_cuda else contextlib.nullcontext():
            z = self.answer(planes)
        wrong = loss(z.float()[:, :1], told, *labels) + EVEN * unevenness(z.float()[:, :1], told, by)
        self.optimiser.zero_grad(set_to_none=True)
        wrong.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)
        self.optimiser.step()
        if self.average is not None:
            with torch.no_grad():
                mean = list(self.average.parameters())
                torch._foreach_mul_(mean, 1 - KEEP)
                torch._foreach_add_(mean, list(self.net.parameters()), alpha=KEEP)
        self.recent = wrong.detach() if step == 0 else self.recent + RECENT * (wrong.detach() - self.recent)

    def result(self):
        net = self.average or self.net
        if self.start:
            with torch.no_grad():
                for own, first in zip(net.parameters(), self.start.parameters()):
                    own.lerp_(first, 0.5)
        return net.eval()


def train(store, teachers, o, device):
    batches = data.Batches(store, o.seed, o.batch, o.side)
    look = torch.compile(planes_torch) if device.type == "cuda" else planes_torch
    nets = [Trainee(n, device, o.start) for n in o.nets.split(",")]
    learns = {t.name: np.array([t.learns(n) for n in store.name]) for t in nets}
    began, step, history = time.time(), 0, []
    while step < o.steps and time.time() - began < o.seconds:
        done = max(step / o.steps, (time.time() - began) / o.seconds)
        seen, rgb, *labels, source = batches.next()
        by = [int(n) for n in batches.rng.integers(1, 16, 2)]
        seen_again((seen, rgb, *labels[:3]), by)
        for v in (*labels[3:], source):
            v[-AGAIN:] = v[:AGAIN]
        told, planes = teachers(seen), look(rgb)
        for t in nets:
            mine = (planes, told, *labels)
            if t.out:
                mine = [v[torch.from_numpy(of_these(learns[t.name][source], t.out)).to(device)] for v in mine]
            t.step(done, step, mine[0], mine[1], mine[2:], by)
        if step % 500 == 0:
            history.append([step, round(time.time() - began)] + [round(float(t.recent), 4) for t in nets])
            print(*history[-1], flush=True)
        step += 1
    print("steps", step, *(round(float(t.recent), 4) for t in nets), flush=True)
    return nets, history + [[step, round(time.time() - began)] + [round(float(t.recent), 4) for t in nets]]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("photos")
    ap.add_argument("teachers")
    ap.add_argument("out")
    ap.add_argument("rendered", nargs="+")
    ap.add_argument("--nets", default="u16:all:1")
    ap.add_argument("--seconds", type=float, default=1e9)
    ap.add_argument("--steps", type=int, default=5000)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--side", type=int, default=256)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--skip", default="p005,p009")
    ap.add_argument("--start")
    o = ap.parse_args()
    os.makedirs(o.out, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True  # rounded weights and activations are exact in it
    store = data.load(o.rendered, o.photos, device, o.skip.split(","))
    nets, history = train(store, Teachers(o.teachers, device), o, device)
    photos = sorted({n for n, k in zip(store.name, store.kind) if k == "photo"})
    for t in nets:
        path, net = os.path.join(o.out, t.name.replace(":", "-")), t.result()
        torch.save({"name": t.name, "spec": net.spec, "state": net.state_dict()}, path + ".pt")
        with open(path + ".blik", "wb") as out:
            out.write(integer.pack(integers(net)))
    json.dump({"options": vars(o), "torch": torch.__version__, "history": history,
               "cost": {a: cost(s) for a, s in ZOO.items()}, "photographs": photos}, open(os.path.join(o.out, "log.json"), "w"), indent=1)
    print("done", flush=True)


if __name__ == "__main__":
    main()
