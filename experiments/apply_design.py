#!/usr/bin/env python3
"""apply_design.py DESIGN.json: attention in PyTorch with the bias of a file that
`ropelab design --model-file DESIGN.json` wrote, beside attention with ALiBi's own bias added.

For every head of the file: random queries, keys and values (seeded); the extra components appended
to query and key as the file says; scaled_dot_product_attention by hand, with the file's score scale
and not the root of the enlarged dimension. The file's offset, a constant that the scores of a head
have too much, is not looked at: softmax does not see it. Prints how far the outputs are apart."""
import json
import math
import sys

import torch


def rotated(part, frequencies, positions):
    """The fixed components at every position, each pair turned by position * frequency in float32,
    as a model does it."""
    pairs = torch.tensor(part, dtype=torch.float32).reshape(-1, 2)
    phase = positions.float()[:, None] * torch.tensor(frequencies, dtype=torch.float32)
    cos, sin = torch.cos(phase), torch.sin(phase)
    first = pairs[:, 0] * cos - pairs[:, 1] * sin
    second = pairs[:, 0] * sin + pairs[:, 1] * cos
    return torch.stack([first, second], dim=-1).flatten(1)


def factors(head, positions, dtype):
    """rank-2: positions in so many numbers of the dtype, beside a constant."""
    left = positions * (head["step"] / head["unit"])
    query, key = [], []
    for _ in range(head["terms"]):
        stored = left.to(dtype).to(torch.float64)
        left = left - stored
        constant = torch.full_like(stored, head["unit"])
        query += [-stored, constant]
        key += [constant, stored]
    return torch.stack(query, dim=-1), torch.stack(key, dim=-1)


def extra_components(head, positions, dtype):
    if head["method"] == "rank-2":
        return factors(head, positions, dtype)
    frequencies = head["inverse_frequencies"]
    return (rotated(head["query"], frequencies, positions),
            rotated(head["key"], frequencies, positions))


def attention(scores, values):
    length = scores.shape[-1]
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, -math.inf), dim=-1) @ values


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        heads = json.load(file)["heads"]
    print("head,method,extra_dimensions,largest_output_change")
    for head in heads:
        dtype = getattr(torch, head["dtype"])
        generator = torch.Generator().manual_seed(1)
        length, width = head["context"], head["head_dim"]
        query, key, values = (
            torch.randn(length, width, generator=generator, dtype=torch.float64)
            for _ in range(3))
        positions = torch.arange(length, dtype=torch.float64)
        content = query @ key.T * head["score_scale"]
        slope = head["step"] * head["score_scale"]  # of the scaled score
        native = content - slope * (positions[:, None] - positions[None, :])
        if head["method"] == "native":
            scores = native
        else:
            # Stored in the dtype, as in a key-value cache; summed in more precision.
            extra_query, extra_key = (
                x.to(dtype).to(torch.float64) for x in extra_components(head, positions, dtype))
            whole_query = torch.cat([query, extra_query], dim=-1)
            whole_key = torch.cat([key, extra_key], dim=-1)
            scores = whole_query @ whole_key.T * head["score_scale"]
        change = (attention(scores, values) - attention(native, values)).abs().max().item()
        print(f'{head.get("head", "")},{head["method"]},{head["extra_dimensions"]},{change:.0e}')


if __name__ == "__main__":
    main()
