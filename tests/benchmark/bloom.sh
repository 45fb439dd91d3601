#!/usr/bin/env bash
# Installs what is missing, builds, writes a checkpoint of BLOOM-560M's shape with random weights
# (1.1 GB, in build/), and measures ropelab's forward pass beside PyTorch's, and what a bias that
# replaces ALiBi costs, into results/benchmark/bloom.csv. Takes 6 GB of memory.
#   tests/benchmark/bloom.sh [RUNS]    the least of so many runs of each (default: 3)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/setup.sh

install_packages "${build_packages[@]}" libbenchmark-dev python3-numpy python3-torch
cmake --preset "$preset" -DROPELAB_BENCHMARKS=ON
cmake --build --preset "$preset" --parallel "$jobs" \
  --target bloom_forward write_bloom_checkpoint ropelab
mkdir -p results/benchmark

checkpoint=build/bloom-560m
if [[ ! -e $checkpoint/complete ]]; then
  "build/$preset/tests/write_bloom_checkpoint" "$checkpoint"
  touch "$checkpoint/complete"
fi
# Four pairs for every head, at frequencies of a model's own RoPE.
design=build/bloom-560m-design.json
if [[ ! -e $design ]]; then
  "build/$preset/ropelab" design --head all --context 2048 --dtype float32 --pipeline fused \
    --method grid --max-pairs 4 --model-file "$design" --quiet >/dev/null
fi
/usr/bin/python3 tests/benchmark/bloom.py "build/$preset/tests/benchmark/bloom_forward" \
  "$checkpoint" "$design" --runs "${1:-3}" >results/benchmark/bloom.csv.part
mv results/benchmark/bloom.csv.part results/benchmark/bloom.csv
