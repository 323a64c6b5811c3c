"""The network in integers: model files, the reference in numpy, and test vectors.

  integer.py vectors MODEL PICTURE OUT.gz   writes the sums of every layer for a tile of the picture

A convolution is y = clamp((sum q a + b + 2^(s-1)) >> s, 0, 127), with weights q (int8), biases b (int32) and one shift s per
output channel; without 2^(s-1) if s is 0. The last layer is not clamped: its values are logits in sixteenths, of glare, and
of its kinds painted light, edge or support, other. Outside the picture every plane and every activation is 0. A pool is the
mean of 2 x 2 cells, (a + b + c + d + 2) >> 2; an odd side repeats its last row or column. All sums fit into 32 bits, and
those of two neighbouring products into 16.

A layer is a dict: `from` (earlier layers, -1 for the planes; their channels follow each other, coarser ones are repeated to
match the finest), `kind` (conv3, conv1, pool), `in` and `out` channels, `dilation`, `resolution` (pixels a cell, 1 is full);
convolutions also have arrays `q` [out, in, side, side], `b` [out], `s` [out].

MODEL: "BLIKNET2", the length of the header (uint32, little endian like everything), the header (JSON: `unit`, `planes`, and
`layers` as above, with the offsets `weights`, `bias`, `shift` into what follows instead of arrays), the numbers, and the
SHA-256 of everything before it. OUT.gz holds "BLIKVEC2", the length of a header with names, types and shapes, and the
tensors.
"""
import gzip
import hashlib
import json
import struct
import sys

import numpy as np

from planes import CHANNELS, planes

MAGIC, VECTORS = b"BLIKNET2", b"BLIKVEC2"
UNIT = 16


def pack(layers):
    """Returns the bytes of a model file."""
    blob, headings = bytearray(), []
    for l in layers:
        heading = {name: l[name] for name in ("from", "kind", "in", "out", "dilation", "resolution")}
        if l["kind"] != "pool":
            for name, key, kind in (("weights", "q", "i1"), ("bias", "b", "<i4"), ("shift", "s", "u1")):
                blob += bytes(-len(blob) % 4)
                heading[name] = len(blob)
                blob += np.ascontiguousarray(l[key]).astype(kind).tobytes()
        headings.append(heading)
    header = json.dumps({"unit": UNIT, "planes": CHANNELS, "layers": headings}, separators=(",", ":")).encode()
    body = MAGIC + struct.pack("<I", len(header)) + header + bytes(blob)
    return body + hashlib.sha256(body).digest()


def load(data):
    """Returns the layers of a model file."""
    if data[:8] != MAGIC or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ValueError("no model of this version, or a damaged one")
    size = struct.unpack("<I", data[8:12])[0]
    layers, blob = json.loads(data[12:12 + size])["layers"], data[12 + size:-32]
    for l in layers:
        if l["kind"] == "pool":
            continue
        side = 1 if l["kind"] == "conv1" else 3
        shape = (l["out"], l["in"], side, side)
        l["q"] = np.frombuffer(blob, "i1", int(np.prod(shape)), l["weights"]).reshape(shape).astype(np.int64)
        l["b"] = np.frombuffer(blob, "<i4", l["out"], l["bias"]).astype(np.int64)
        l["s"] = np.frombuffer(blob, "u1", l["out"], l["shift"]).astype(np.int64)
    return layers


def sums(l, x):
    """Returns the sums of a convolution before the shift, int64 [out, h, w]."""
    q = l["q"].astype(np.int64)
    side, d = q.shape[2], l["dilation"]
    pad = d * (side // 2)
    h, w = x.shape[1:]
    padded = np.pad(x.astype(np.int64), ((0, 0), (pad, pad), (pad, pad)))
    out = np.repeat(np.repeat(l["b"].astype(np.int64)[:, None, None], h, 1), w, 2)
    for j in range(side):
        for i in range(side):
            out += np.tensordot(q[:, :, j, i], padded[:, j * d:j * d + h, i * d:i * d + w], 1)
    assert np.abs(out).max() < 1 << 31
    return out


def scaled(l, total):
    """Returns the sums of a convolution after the shift, not clamped."""
    s = l["s"].astype(np.int64)[:, None, None]
    return (total + np.where(s > 0, 1 << np.maximum(s - 1, 0), 0)) >> s


def pooled(x):
    """Returns the rounded means of 2 x 2 cells."""
    x = np.pad(x, ((0, 0), (0, x.shape[1] & 1), (0, x.shape[2] & 1)), mode="edge").astype(np.int64)
    return (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2] + 2) >> 2


def joined(layers, l, done):
    """Returns the input of a layer: its sources at the finest of their resolutions."""
    resolution = lambda s: 1 if s < 0 else layers[s]["resolution"]
    fine = min(resolution(s) for s in l["from"])
    h, w = next(done[s].shape[1:] for s in l["from"] if resolution(s) == fine)
    parts = []
    for s in l["from"]:
        n = resolution(s) // fine
        parts.append(done[s].repeat(n, 1).repeat(n, 2)[:, :h, :w])
    return np.concatenate(parts)


def run(layers, x):
    """Planes uint8 [12, h, w] -> logits in sixteenths int64 [4, h, w], and the sums of each layer (of a pool its result)."""
    done, trace = {-1: x}, []
    for i, l in enumerate(layers):
        source = joined(layers, l, done)
        if l["kind"] == "pool":
            done[i] = pooled(source)
            trace.append(done[i])
            continue
        trace.append(sums(l, source))
        done[i] = scaled(l, trace[i])
        if i < len(layers) - 1:
            done[i] = np.clip(done[i], 0, 127)
    return done[len(layers) - 1], trace


def kinds(logits):
    """Logits int64 [4, h, w] -> index of the largest of 0 and the last three, each cut at 255; the lowest of equal ones."""
    return np.concatenate([np.zeros_like(logits[:1]), np.minimum(logits[1:], 255)]).argmax(0).astype(np.uint8)


def vectors(model, rgb):
    """Returns the bytes of a file of test vectors: what a model file makes of a picture uint8 [h, w, 3]."""
    x = planes(rgb)
    logits, trace = run(load(model), x)
    tensors = [("picture", "u1", rgb), ("planes", "u1", x)]
    tensors += [("sums %d" % i, "<i4", t) for i, t in enumerate(trace)]
    tensors += [("logits", "<i4", logits), ("kinds", "u1", kinds(logits))]
    header = json.dumps({"model_sha256": hashlib.sha256(model).hexdigest(),
                         "tensors": [{"name": n, "type": k, "shape": list(t.shape)} for n, k, t in tensors]}).encode()
    body = VECTORS + struct.pack("<I", len(header)) + header + b"".join(t.astype(k).tobytes() for _, k, t in tensors)
    return gzip.compress(body, 9, mtime=0)


def main():
    if len(sys.argv) != 5 or sys.argv[1] != "vectors":
        sys.exit(__doc__)
    import cv2
    rgb = cv2.imread(sys.argv[3], cv2.IMREAD_COLOR)[..., ::-1]
    # A part of odd size from the middle of the picture, to test borders and half cells.
    y, x = rgb.shape[0] // 2, rgb.shape[1] // 2
    tile = np.ascontiguousarray(rgb[y:y + 37, x:x + 45])
    with open(sys.argv[4], "wb") as out:
        out.write(vectors(open(sys.argv[2], "rb").read(), tile))


if __name__ == "__main__":
    main()
