"""Trains a converted network on in integers, so that rounding costs nothing, with the original as its teacher.

  tune.py START.pt PHOTOS OUT RENDERED.pt... --nets all:1:0,all:1:0.5 [--seconds N] [--steps N] [--skip p005,p009]

START.pt is that of convert.py. A network is FOLDS:SEED:TASK; the paintings of the folds are left out, of `all` none. The teacher's
probability is the target of every pixel that nobody labelled; TASK is the weight of the loss of train.py, which knows the
labels, beside it. OUT gets NET.pt and NET.blik of each, and log.json.
"""
import argparse
import contextlib
import json
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

import data
import integer
from convert import rounded
from model import UNIT, integers, resolutions
from planes import planes_torch
from train import KEEP, losses

RATE, DECAY = 1e-3, 1e-5
REAL = 0.5
STRONG = 30  # weight of a pixel that the teacher is sure of, in those that it is sure are paint


def answer(spec, layers, planes):
    """Logit of glare of a network with ReLU without bounds."""
    resolution = [1] + resolutions(spec)
    done = [planes]
    for l, layer in zip(spec, layers):
        sources = [s + 1 for s in l["from"]]
        fine = min(resolution[s] for s in sources)
        x = torch.cat([F.interpolate(done[s], scale_factor=resolution[s] // fine, mode="nearest") for s in sources], 1)
        if layer is None:
            done.append(F.avg_pool2d(x, 2))
            continue
        weight, bias = layer
        x = F.conv2d(x, weight, bias, 1, l["dilation"] if weight.shape[2] == 3 else 0, l["dilation"])
        done.append(x if l is spec[-1] else F.relu(x))
    return done[-1][:, :1]


class Trainee:
    def __init__(self, name, start, device):
        self.name = name
        fold, seed, task = name.split(":")
        torch.manual_seed(int(seed))
        self.out, self.task = {int(c) for c in fold if fold != "all"}, float(task)
        self.net, self.average = (rounded(start["spec"], start["fitted"]).float().to(device) for _ in range(2))
        if device.type == "cuda":
            self.net.to(memory_format=torch.channels_last)
        self.net.layers[0].requires_grad_(False)  # the adapter of the planes
        learns = [p for p in self.net.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(learns, lr=RATE, weight_decay=DECAY)

    def step(self, done, step, planes, teacher, labels):
        for group in self.optimiser.param_groups:
            group["lr"] = RATE * min(1, step / 100 + 0.05) * (0.5 * (1 + np.cos(np.pi * min(1, done))) + 0.003)
        with torch.autocast("cuda", torch.bfloat16) if planes.is_cuda else contextlib.nullcontext():
            z = self.net(planes)
        z = z.float()
        glare, _, _, hard, real = labels
        known = (hard > 0) | (glare & (real > 0))
        target = torch.sigmoid(teacher)
        weight = (1 + STRONG * target) * ~known
        loss = 4 * (F.binary_cross_entropy_with_logits(z[:, :1], target, reduction="none") * weight).sum() / weight.sum()
        if self.task:
            loss = loss + self.task * losses(z, *labels, REAL)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)
        self.optimiser.step()
        with torch.no_grad():
            mean = list(self.average.parameters())
            keep = max(KEEP, 1 / (step + 1))
            torch._foreach_mul_(mean, 1 - keep)
            torch._foreach_add_(mean, list(self.net.parameters()), alpha=keep)
        return loss.detach()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("start")
    ap.add_argument("photos")
    ap.add_argument("out")
    ap.add_argument("rendered", nargs="+")
    ap.add_argument("--nets", default="all:1:0.5")
    ap.add_argument("--seconds", type=float, default=1e9)
    ap.add_argument("--steps", type=int, default=3000)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--side", type=int, default=256)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--skip", default="p005,p009")
    o = ap.parse_args()
    os.makedirs(o.out, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True
    start = torch.load(o.start, weights_only=False)
    store = data.load(o.rendered, o.photos, device, o.skip.split(","))
    batches = data.Batches(store, o.seed, o.batch, o.side)
    nets = [Trainee(n, start, device) for n in o.nets.split(",")]
    teacher = [layer and tuple(t.to(device, torch.float32) for t in layer) for layer in start["trained"]]
    learns = {t.name: np.array([data.fold_of(n) not in t.out for n in store.name]) for t in nets}
    began, step, history = time.time(), 0, []
    while step < o.steps and time.time() - began < o.seconds:
        done = max(step / o.steps, (time.time() - began) / o.seconds)
        rgb, *labels, source = batches.next()
        planes, row = planes_torch(rgb), []
        with torch.no_grad():
            told = answer(start["spec"], teacher, planes.float() / UNIT)
        for t in nets:
            mine = (planes, told, *labels)
            if t.out:
                count = o.batch * (len(data.FOLDS) - len(t.out)) // len(data.FOLDS)
                chosen = torch.from_numpy(np.resize(np.flatnonzero(learns[t.name][source]), count)).to(device)
                mine = [v[chosen] for v in mine]
            row.append(t.step(done, step, mine[0], mine[1], mine[2:]))
        if step % 250 == 0:
            history.append([step, round(time.time() - began)] + [round(float(l), 3) for l in row])
            print(*history[-1], flush=True)
        step += 1
    print("steps", step, flush=True)
    for t in nets:
        path = os.path.join(o.out, t.name.replace(":", "-"))
        torch.save({"name": t.name, "spec": start["spec"], "state": t.average.state_dict()}, path + ".pt")
        with open(path + ".blik", "wb") as out:
            out.write(integer.pack(integers(t.average.eval())))
    json.dump({"options": vars(o), "torch": torch.__version__, "history": history}, open(os.path.join(o.out, "log.json"), "w"), indent=1)
    print("done", flush=True)


if __name__ == "__main__":
    main()
