"""The network in integers: export, reference and test vectors.

  integer.py export NET.pt MODEL [LOG.json...]   writes MODEL, and MODEL.json with its provenance: the log of its
                                                 training first, then those of the folds
  integer.py vectors MODEL PICTURE OUT.gz        writes the sums of every layer for a tile of the picture
  integer.py check NET.pt MODEL PICTURE          compares the integer network with PyTorch, pixel for pixel

A layer is y = clamp((sum q a + b + 2^(s-1)) >> s, 0, 127), with weights q (int8), biases b (int32) and one shift s per
output channel; without 2^(s-1) if s is 0. The last layer is not clamped: its values are logits in sixteenths. Outside the
picture every plane and every activation is 0. All sums fit into 32 bits, and those of two neighbouring products into 16.

MODEL: "BLIKNET1", the length of the header (uint32, little endian like everything), the header (JSON: `layers` as in
model.py with `in`, `resolution`, and the offsets `weights`, `bias`, `shift` into what follows), the numbers, and the SHA-256
of everything before it. Weights are in the order output, input, row, column. OUT.gz holds "BLIKVEC1", the length of a header with names,
types and shapes, and the tensors.
"""
import gzip
import hashlib
import json
import os
import struct
import sys

import numpy as np

from planes import planes

MAGIC, VECTORS = b"BLIKNET1", b"BLIKVEC1"


def export(net, unit):
    """Returns the bytes of a quantised network."""
    import torch
    from model import inputs, resolutions, shifts
    blob, layers = bytearray(), []
    for l, r, module in zip(net.spec, resolutions(net.spec), net.layers):
        weight, bias = module.conv.weight.detach().double(), module.conv.bias.detach().double()
        shift = shifts(module.conv.weight)
        scale = torch.exp2(shift).double()
        q = torch.floor(weight * scale[:, None, None, None] + 0.5).clamp(-127, 127)
        b = torch.floor(bias * scale * unit + 0.5)
        layer = dict(l, **{"in": inputs(net.spec, l), "resolution": r})
        for name, numbers, kind in (("weights", q, "i1"), ("bias", b, "<i4"), ("shift", shift, "u1")):
            blob += bytes(-len(blob) % 4)
            layer[name] = len(blob)
            blob += numbers.numpy().astype(kind).tobytes()
        layers.append(layer)
    header = json.dumps({"unit": unit, "planes": 24, "layers": layers}, separators=(",", ":")).encode()
    body = MAGIC + struct.pack("<I", len(header)) + header + bytes(blob)
    return body + hashlib.sha256(body).digest()


def load(data):
    """Returns the layers of a model with their numbers as arrays."""
    if data[:8] != MAGIC or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ValueError("no model of this version, or a damaged one")
    size = struct.unpack("<I", data[8:12])[0]
    layers, blob = json.loads(data[12:12 + size])["layers"], data[12 + size:-32]
    for l in layers:
        side = 1 if l["kind"] == "conv1" else 3
        shape = (l["out"], 1 if l["kind"] == "depth3" else l["in"], side, side)
        l["q"] = np.frombuffer(blob, "i1", int(np.prod(shape)), l["weights"]).reshape(shape).astype(np.int64)
        l["b"] = np.frombuffer(blob, "<i4", l["out"], l["bias"]).astype(np.int64)
        l["s"] = np.frombuffer(blob, "u1", l["out"], l["shift"]).astype(np.int64)
    return layers


def sums(l, x):
    """Returns the sums of one layer before the shift, int64 [out, h, w]."""
    side, step, d = l["q"].shape[2], l["stride"], l["dilation"]
    pad = d if side == 3 else 0
    h, w = x.shape[1:]
    padded = np.pad(x.astype(np.int64), ((0, 0), (pad, pad), (pad, pad)))
    out = np.repeat(np.repeat(l["b"][:, None, None], (h - 1) // step + 1, 1), (w - 1) // step + 1, 2)
    for j in range(side):
        for i in range(side):
            part = padded[:, j * d:j * d + h:step, i * d:i * d + w:step]
            out += part * l["q"][:, 0, j, i, None, None] if l["kind"] == "depth3" else np.tensordot(l["q"][:, :, j, i], part, 1)
    assert np.abs(out).max() < 1 << 31
    return out


def run(layers, x):
    """Planes uint8 [24, h, w] -> logits in sixteenths int64 [2h, 2w], and the sums of each layer."""
    done, trace = {-1: x}, []
    for i, l in enumerate(layers):
        fine = min(2 if s < 0 else layers[s]["resolution"] for s in l["from"])
        parts = []
        for s in l["from"]:
            n = (2 if s < 0 else layers[s]["resolution"]) // fine
            parts.append(done[s].repeat(n, 1).repeat(n, 2))
        h, w = min(p.shape[1] for p in parts), min(p.shape[2] for p in parts)
        total = sums(l, np.concatenate([p[:, :h, :w] for p in parts]))
        trace.append(total)
        s = l["s"][:, None, None]
        done[i] = (total + np.where(s > 0, 1 << np.maximum(s - 1, 0), 0)) >> s
        if i < len(layers) - 1:
            done[i] = np.clip(done[i], 0, 127)
    y = done[len(layers) - 1]
    return y.reshape(2, 2, *y.shape[1:]).transpose(2, 0, 3, 1).reshape(2 * y.shape[1], 2 * y.shape[2]), trace


def vectors(model, rgb):
    x = planes(rgb)
    logit, trace = run(load(model), x)
    tensors = [("picture", "u1", rgb), ("planes", "u1", x)]
    tensors += [("sums %d" % i, "<i4", t) for i, t in enumerate(trace)] + [("logits", "<i2", logit)]
    header = json.dumps({"model_sha256": hashlib.sha256(model).hexdigest(),
                         "tensors": [{"name": n, "type": k, "shape": list(t.shape)} for n, k, t in tensors]}).encode()
    body = VECTORS + struct.pack("<I", len(header)) + header + b"".join(t.astype(k).tobytes() for _, k, t in tensors)
    return gzip.compress(body, 9, mtime=0)


def provenance(model, name, logs):
    """Returns the data, seeds, options and figures of a model, from the logs of train.py."""
    first = logs[0]
    return {"model_sha256": hashlib.sha256(model).hexdigest(), "network": name, "torch": first["torch"],
            "options": {k: v for k, v in first["options"].items() if k not in ("data", "out")},
            "multiply_adds_a_pixel": first["nets"][name]["macs"], "weights": first["nets"][name]["weights"],
            "data_sha256": first["data_sha256"], "sets": first.get("sets"), "paintings_sha256": first["paintings"],
            "loss": [row[0::2] for row in first["history"][-5:]],
            "folds": [{"fold": l["options"]["fold"], "seed": l["options"]["seed"], "left_out":
                       sorted(set(first["paintings"]) - set(l["paintings"])), "figures": l["nets"][name]["figures"]}
                      for l in logs[1:]]}


def main():
    import cv2
    read = lambda path: cv2.imread(path, cv2.IMREAD_COLOR)[..., ::-1]
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    command, source, target = sys.argv[1:4]
    if command == "vectors":
        # A part of odd size from the middle of the picture, to test borders and half cells.
        rgb = read(target)
        y, x = rgb.shape[0] // 2, rgb.shape[1] // 2
        tile = np.ascontiguousarray(rgb[y:y + 37, x:x + 45])
        open(sys.argv[4], "wb").write(vectors(open(source, "rb").read(), tile))
        return
    from evaluate import load as load_net
    from model import UNIT
    net = load_net(source)
    if command == "export":
        data = export(net, UNIT)
        open(target, "wb").write(data)
        if len(sys.argv) > 4:
            name = os.path.splitext(os.path.basename(source))[0]
            logs = [json.load(open(path)) for path in sys.argv[4:]]
            with open(target + ".json", "w") as out:
                json.dump(provenance(data, name, logs), out, indent=1)
                out.write("\n")
        print("%s: %d bytes, SHA-256 %s" % (target, len(data), hashlib.sha256(data).hexdigest()))
        return
    import judge
    rgb = np.ascontiguousarray(read(sys.argv[4])[:301, :399])
    logit, _ = run(load(open(target, "rb").read()), planes(rgb))
    difference = np.abs(logit[:301, :399] / UNIT - judge.logits(net, rgb))
    print("largest difference of a logit %g, %d of %d pixels differ" % (difference.max(), (difference > 0).sum(), difference.size))


if __name__ == "__main__":
    main()
