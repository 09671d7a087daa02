#!/usr/bin/python3
# Trains the example's network on Fashion-MNIST and records its weights, reference and sample.
#
# Layer:     example (needs python3-torch and python3-numpy; not part of the build)
# Threads:   --threads, one by default; the result depends on it in the last bits
# Stability: example code, no promises
# SPDX-License-Identifier: MIT

import argparse
import gzip
import hashlib
import json
import pathlib
import struct

import numpy
import torch
import torch.nn.functional as F

PACKAGE_DIR = "/usr/share/datasets/fashion-mnist"  # Debian: dataset-fashion-mnist
IMAGES_MAGIC = 0x803
LABELS_MAGIC = 0x801
SAMPLE_COUNT = 512

TRAINING = {
    "optimizer": "Adam",
    "schedule": "one-cycle",
    "max_learning_rate": 4e-3,
    "batch": 128,
    "epochs": 5,
    "seed": 1,
    "loss": "cross-entropy",
    "input": "pixel = byte / 255 as f32; no other normalisation, no augmentation",
}


class Network(torch.nn.Module):
    """Two convolutions and two linear layers; the logits are the output."""

    def __init__(self):
        super().__init__()
        self.c1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.f1 = torch.nn.Linear(32 * 7 * 7, 64)
        self.f2 = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.f2(F.relu(self.f1(x.flatten(1))))

    def tensors(self):
        """The parameters in file order, by name."""
        for layer in ("c1", "c2", "f1", "f2"):
            module = getattr(self, layer)
            yield layer + ".w", module.weight
            yield layer + ".b", module.bias


def read_images(path):
    with gzip.open(path, "rb") as stream:
        magic, count, rows, columns = struct.unpack(">IIII", stream.read(16))
        if (magic, rows, columns) != (IMAGES_MAGIC, 28, 28):
            raise SystemExit(f"{path}: not an IDX file of 28x28 images")
        data = numpy.frombuffer(stream.read(), dtype=numpy.uint8)
    return data.reshape(count, 28, 28)


def read_labels(path):
    with gzip.open(path, "rb") as stream:
        magic, count = struct.unpack(">II", stream.read(8))
        if magic != LABELS_MAGIC:
            raise SystemExit(f"{path}: not an IDX file of labels")
        data = numpy.frombuffer(stream.read(), dtype=numpy.uint8)
    return data.reshape(count)


def to_input(images):
    """Bytes [N,28,28] to f32 [N,1,28,28], each pixel divided by 255."""
    return torch.from_numpy(images.astype(numpy.float32) / numpy.float32(255)).unsqueeze(1)


def train(package_dir):
    torch.manual_seed(TRAINING["seed"])
    x = to_input(read_images(package_dir / "train-images-idx3-ubyte.gz"))
    labels = read_labels(package_dir / "train-labels-idx1-ubyte.gz")
    y = torch.from_numpy(labels.astype(numpy.int64))
    network = Network()
    batch, epochs = TRAINING["batch"], TRAINING["epochs"]
    steps = -(-len(x) // batch) * epochs
    optimizer = torch.optim.Adam(network.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=TRAINING["max_learning_rate"], total_steps=steps)
    for epoch in range(epochs):
        loss_sum = 0.0
        for index in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = F.cross_entropy(network(x[index]), y[index])
            loss.backward()
            optimizer.step()
            schedule.step()
            loss_sum += loss.item() * len(index)
        print(f"epoch {epoch + 1} of {epochs}: mean loss {loss_sum / len(x):.4f}", flush=True)
    return network


def write_weights(network, path):
    with open(path, "wb") as stream:
        for _, tensor in network.tensors():
            stream.write(tensor.detach().numpy().astype("<f4").tobytes())


def read_weights(path):
    network = Network()
    values = numpy.fromfile(path, dtype="<f4")
    if len(values) != sum(tensor.numel() for _, tensor in network.tensors()):
        raise SystemExit(f"{path}: wrong size")
    first = 0
    for _, tensor in network.tensors():
        part = values[first:first + tensor.numel()]
        tensor.data = torch.from_numpy(part.astype(numpy.float32)).view(tensor.shape)
        first += tensor.numel()
    return network


def reference_logits(network, images):
    """Logits of the f32 weights and f32 pixels, computed in f64, as f64 [N,10]."""
    exact = network.double()
    with torch.no_grad():
        parts = [exact(part.double()) for part in to_input(images).split(500)]
    return torch.cat(parts).numpy()


def write_sample(images, labels, data_dir):
    header = struct.pack(">IIII", IMAGES_MAGIC, SAMPLE_COUNT, 28, 28)
    (data_dir / "sample-images.bin").write_bytes(header + images[:SAMPLE_COUNT].tobytes())
    header = struct.pack(">II", LABELS_MAGIC, SAMPLE_COUNT)
    (data_dir / "sample-labels.bin").write_bytes(header + labels[:SAMPLE_COUNT].tobytes())


def write_manifest(network, logits, labels, data_dir):
    rounded = logits.astype("<f4")
    hits = rounded.argmax(1) == labels
    gaps = numpy.diff(numpy.sort(rounded, axis=1)[:, -2:], axis=1)
    names = ("weights.bin", "reference-10k.bin", "sample-images.bin", "sample-labels.bin")
    manifest = {
        "files": {
            name: {
                "bytes": (data_dir / name).stat().st_size,
                "sha256": hashlib.sha256((data_dir / name).read_bytes()).hexdigest(),
            } for name in names
        },
        "tensors": {name: list(tensor.shape) for name, tensor in network.tensors()},
        "parameters": sum(tensor.numel() for _, tensor in network.tensors()),
        "training": dict(TRAINING, torch=torch.__version__),
        "test": {
            "images": len(labels),
            "correct": int(hits.sum()),
            "accuracy": round(float(hits.mean()), 4),
            "correct_in_sample": int(hits[:SAMPLE_COUNT].sum()),
            "smallest_gap_best_to_second": float(f"{gaps.min():.3g}"),
            "images_with_gap_below_0.001": int((gaps < 1e-3).sum()),
            "lowest_logit": round(float(rounded.min()), 3),
            "highest_logit": round(float(rounded.max()), 3),
        },
    }
    (data_dir / "MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(json.dumps(manifest["test"], indent=2))


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Trains and records the Fashion-MNIST network.")
    parser.add_argument("--package-dir", type=pathlib.Path, default=pathlib.Path(PACKAGE_DIR),
                        help="where the four IDX .gz files are (default: %(default)s)")
    parser.add_argument("--data-dir", type=pathlib.Path, default=here / "data",
                        help="where the results go (default: data/ beside this file)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (default: 1)")
    parser.add_argument("--keep-weights", action="store_true",
                        help="read weights.bin instead of training, and record the rest again")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    options.data_dir.mkdir(parents=True, exist_ok=True)
    weights_path = options.data_dir / "weights.bin"
    if not options.keep_weights:
        write_weights(train(options.package_dir), weights_path)
    # The file is read back, so that the reference belongs to what was written.
    network = read_weights(weights_path)

    images = read_images(options.package_dir / "t10k-images-idx3-ubyte.gz")
    labels = read_labels(options.package_dir / "t10k-labels-idx1-ubyte.gz")
    logits = reference_logits(network, images)
    logits.astype("<f4").tofile(options.data_dir / "reference-10k.bin")
    write_sample(images, labels, options.data_dir)
    write_manifest(network, logits, labels, options.data_dir)


if __name__ == "__main__":
    main()
