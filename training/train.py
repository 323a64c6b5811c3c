"""Trains several networks side by side on the same batches.

  train.py --data SETS.npz --out DIR --nets h24,q16,q16+kd [--fold N] [--steps N] [--seed N]

`+kd` distils from the network `teacher`, which must be among the nets and is trained at the same time. With --fold, the
paintings of that fold are held out for evaluation; otherwise all except the reserved ones are used for training. DIR gets NAME.pt for each network and
log.json with options, hashes of the data and the figures on the held-out fold.
"""
import argparse
import copy
import hashlib
import json
import os
import time

import numpy as np
import torch

import data
import judge
from model import Net, ZOO, cost
from planes import planes_torch

DISTIL = 0.5  # weight of the teacher's opinion
TEMPERATURE = 1.5


def losses(logit, target, weight, teacher):
    """Returns the loss, and the difficulty of the negatives of each patch."""
    ce = torch.nn.functional.binary_cross_entropy_with_logits(logit, target.float(), reduction="none")
    positive, negative = weight * target, weight * ~target
    loss = (ce * positive).sum() / positive.sum().clamp(min=50)
    wrong = ce * negative
    hardest = wrong.flatten().topk(int(0.004 * wrong.numel())).values.mean()
    loss = loss + 4 * wrong.sum() / negative.sum() + 0.35 * hardest
    if teacher is not None:
        soft = torch.sigmoid(teacher / TEMPERATURE)
        kd = torch.nn.functional.binary_cross_entropy_with_logits(logit / TEMPERATURE, soft, reduction="none")
        entropy = torch.nn.functional.binary_cross_entropy(soft, soft, reduction="none")
        known = (weight > 0).float() * (0.02 + torch.maximum(soft, torch.sigmoid(logit.detach())))
        loss = loss + DISTIL * ((kd - entropy) * known).sum() / known.sum()
    return loss, wrong.detach().flatten(1).mean(1)


class Trainee:
    """A network with its optimiser, schedule and the average of its late weights."""

    def __init__(self, name, seed, device, steps, rate, decay):
        torch.manual_seed(seed)
        self.name, self.steps, self.rate, self.decay = name, steps, rate, decay
        self.net = Net(ZOO[name.split("+")[0]]).to(device).to(memory_format=torch.channels_last)
        self.quantise_at = int(0.7 * steps) if name != "teacher" else steps + 1
        self.average = None
        self.optimise()

    def optimise(self):
        fused = next(self.net.parameters()).is_cuda
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=self.rate, weight_decay=self.decay, **({"fused": True} if fused else {}))

    def begin(self, step):
        if step == self.quantise_at:
            self.net.fold()
            self.optimise()
            self.average = copy.deepcopy(self.net)
        warm = min(1, (step + 1) / 200)
        rate = self.rate * warm * 0.5 * (1 + np.cos(np.pi * step / self.steps)) + 1e-6
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def end(self):
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        if self.average is not None:
            with torch.no_grad():
                for a, p in zip(self.average.parameters(), self.net.parameters()):
                    a.lerp_(p, 0.003)

    def result(self):
        return (self.average or self.net).eval()


def train(store, options):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    fold_of = data.folds(store["painting"])
    fold = np.array([fold_of[p] for p in store["painting"]])
    learn = np.flatnonzero((fold >= 0) & (fold != options.fold))
    shares = [float(v) for v in options.shares.split(",")]
    batches = data.Batches(store, learn, device, options.seed, options.batch, shares)
    names = sorted(options.nets.split(","), key=lambda n: n != "teacher")
    trainees = [Trainee(n, options.seed, device, options.steps, 2e-3 if n == "teacher" else 3e-3, options.decay) for n in names]
    began, history = time.time(), []
    for step in range(options.steps):
        rgb, target, weight, chosen = batches.next()
        planes, target, weight = planes_torch(rgb), target[:, None], weight[:, None]
        opinion, row = None, []
        for t in trainees:
            t.begin(step)
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                logit = t.net(planes)
            ramp = "+kd" in t.name and step > 0.15 * options.steps
            loss, hard = losses(logit.float(), target, weight, opinion if ramp else None)
            loss.backward()
            t.end()
            if t.name == "teacher":
                opinion = logit.detach().float()
            row.append(loss.detach())
        if step % 25 == 0:
            batches.note(chosen, hard.tolist())
        if step % 200 == 0 or step == options.steps - 1:
            history.append([step, round(time.time() - began, 1)] + [round(float(l), 4) for l in row])
            print(" ".join(map(str, history[-1])), flush=True)
    return {t.name: t.result() for t in trainees}, history, fold


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--nets", required=True)
    ap.add_argument("--fold", type=int, default=-2)
    ap.add_argument("--steps", type=int, default=4000)
    ap.add_argument("--batch", type=int, default=48)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--decay", type=float, default=1e-4)
    ap.add_argument("--shares", default=data.SHARES, help="how often each kind is drawn: " + ", ".join(data.KINDS))
    options = ap.parse_args()
    os.makedirs(options.out, exist_ok=True)
    store = dict(np.load(options.data))
    nets, history, fold = train(store, options)
    log = {"options": vars(options), "torch": torch.__version__, "history": history, "nets": {},
           "sets": store["sets"].tolist(),
           "data_sha256": hashlib.sha256(store["pictures"].tobytes() + store["truth"].tobytes()).hexdigest(),
           "paintings": {f: h for f, h, k in zip(store["files"].tolist(), store["hashes"].tolist(), fold.tolist())
                         if k >= 0 and k != options.fold}}
    judged = np.flatnonzero(fold == options.fold) if options.fold >= 0 else np.flatnonzero(fold == -1)
    for name, net in nets.items():
        torch.save({"name": name, "spec": net.spec, "state": net.state_dict(), "exact": net.layers[0].exact},
                   os.path.join(options.out, name.replace("+", "_") + ".pt"))
        figures = judge.judge(net, store, judged) if len(judged) else {}
        macs, weights = cost(net.spec)
        log["nets"][name] = {"macs": macs, "weights": weights, "figures": figures}
        print(name, int(macs), int(weights), json.dumps(figures), flush=True)
    json.dump(log, open(os.path.join(options.out, "log.json"), "w"), indent=1)


if __name__ == "__main__":
    main()
