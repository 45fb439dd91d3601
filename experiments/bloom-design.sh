#!/usr/bin/env bash
# bloom-design.sh PROGRAM: makes designs for the heads of tiny-kjv (results/bloom-designs.csv), and
# runs the model with each of them and with the pair of bloom-design.toml.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=several-runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/several-runs.sh"
designs=build/bloom-design
mkdir -p "$designs"
contexts=(256 1024)

begin_runs bloom-designs "$1"
for context in "${contexts[@]}"; do
  for dtype in float16 bfloat16; do
    for method in dyadic:1 dyadic:2 dyadic:4 multi-pair:1 multi-pair:2 multi-pair:4 rank-2:1; do
      run design --heads 4 --head all --head-dim 32 --pipeline fused --context "$context" \
        --dtype "$dtype" --method "${method%:*}" --max-pairs "${method#*:}" \
        --model-file "$designs/$context-$dtype-${method/:/-}.json"
    done
  done
done
join_runs

begin_runs bloom-design "$1"
for context in "${contexts[@]}"; do
  bias=native-relative,none,pair
  for file in "$designs/$context"-*.json; do
    bias+=,design:$file
  done
  run bloom tests/data/bloom/tiny-kjv --windows "$context" --limit $((16384 / context)) \
    --bias "$bias" --config experiments/bloom-design.toml
done
join_runs
