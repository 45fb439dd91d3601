"""The yardstick of ropelab's forward pass: the same BLOOM model in PyTorch, float32, on a CPU.

    torch_bloom.py CHECKPOINT [--tokens 1024] [--threads 2] [--runs 3] [--logits all|last|none]

CHECKPOINT is a folder with config.json and model.safetensors. The arithmetic and the order of
operations are those of Hugging Face's modeling_bloom.py (written anew): weights widened to float32
before the clock starts, ALiBi as +m j through baddbmm, a softmax over all scores of a layer.
Prints a line for each run (seconds, those of all processors, the start of the last hidden state),
then the peak of resident memory.

Where OpenBLAS does not know the processor it falls back to slow kernels; set
OPENBLAS_CORETYPE=SkylakeX or =Haswell then, or the comparison flatters ropelab, which does so itself.
"""

import argparse
import json
import math
import resource
import struct
import time

import numpy
import torch


def load(folder):
    """The config, and the tensors by name without "transformer.", widened to float32."""
    with open(folder + "/config.json") as file:
        config = json.load(file)
    path = folder + "/model.safetensors"
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    stored = {"BF16": numpy.uint16, "F16": numpy.float16, "F32": numpy.float32}
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        kind = numpy.dtype(stored[tensor["dtype"]])
        count = (end - begin) // kind.itemsize
        numbers = numpy.fromfile(path, kind, count, offset=8 + length + begin)
        if tensor["dtype"] == "BF16":
            numbers = numbers.astype(numpy.uint32)
            numbers <<= 16
            numbers = numbers.view(numpy.float32)
        numbers = numbers.astype(numpy.float32, copy=False).reshape(tensor["shape"])
        tensors[name.removeprefix("transformer.")] = torch.from_numpy(numbers)
    return config, tensors


def alibi_slopes(heads):
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (k + 1) / power) for k in range(power)]
    return slopes + [2 ** (-4 * (2 * k + 1) / power) for k in range(heads - power)]


def gelu(x):
    return x * 0.5 * (1.0 + torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x)))


def hidden_states(config, tensors, tokens):
    size, heads, epsilon = config["hidden_size"], config["n_head"], config["layer_norm_epsilon"]
    head_dim, count = size // heads, len(tokens)

    def norm(x, name):
        weight, bias = tensors[name + ".weight"], tensors[name + ".bias"]
        return torch.nn.functional.layer_norm(x, (size,), weight, bias, epsilon)

    def linear(x, name):
        return torch.nn.functional.linear(x, tensors[name + ".weight"], tensors[name + ".bias"])

    alibi = torch.tensor(alibi_slopes(heads))[:, None, None] * torch.arange(count)
    hidden_from_query = torch.ones(count, count, dtype=torch.bool).triu(1)
    states = norm(tensors["word_embeddings.weight"][tokens], "word_embeddings_layernorm")
    for n in range(config["n_layer"]):
        layer = f"h.{n}."
        normed = norm(states, layer + "input_layernorm")
        fused = linear(normed, layer + "self_attention.query_key_value")
        query, key, value = fused.view(count, heads, 3, head_dim).permute(2, 1, 0, 3)
        scores = alibi.baddbmm(query, key.transpose(1, 2), beta=1.0, alpha=1 / math.sqrt(head_dim))
        scores = scores.masked_fill(hidden_from_query, torch.finfo(torch.float32).min)
        means = torch.bmm(torch.softmax(scores, dim=-1), value)
        means = means.transpose(0, 1).reshape(count, size)
        after_norm = config.get("apply_residual_connection_post_layernorm", False)
        states = linear(means, layer + "self_attention.dense") + (normed if after_norm else states)
        normed = norm(states, layer + "post_attention_layernorm")
        inner = gelu(linear(normed, layer + "mlp.dense_h_to_4h"))
        states = linear(inner, layer + "mlp.dense_4h_to_h") + (normed if after_norm else states)
    return norm(states, "ln_f")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint")
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--logits", choices=["all", "last", "none"], default="all")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config, tensors = load(arguments.checkpoint)
    tokens = torch.arange(arguments.tokens) * 7919 % config["vocab_size"]
    for _ in range(arguments.runs):
        start, start_of_work = time.perf_counter(), time.process_time()
        with torch.no_grad():
            states = hidden_states(config, tensors, tokens)
            rows = {"all": states, "last": states[-1:], "none": states[:0]}[arguments.logits]
            logits = rows @ tensors["word_embeddings.weight"].T
        seconds, work = time.perf_counter() - start, time.process_time() - start_of_work
        print(f"{seconds:.2f} s ({work:.2f} s of processors), {states[-1, :3].tolist()}")
        del logits
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak {peak:.0f} MiB")


if __name__ == "__main__":
    main()
