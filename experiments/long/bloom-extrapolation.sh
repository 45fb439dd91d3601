#!/usr/bin/env bash
# bloom-extrapolation.sh PROGRAM: bloom-extrapolation.toml for every trained model and way to read.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../several-runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/../several-runs.sh"
begin_runs bloom-extrapolation "$1"
read_by() {
  run bloom "tests/data/bloom/$1" "${@:2}" --config experiments/long/bloom-extrapolation.toml
}
for model in tiny-kjv alibi-256-kjv t5-kjv rotary-kjv none-kjv sinusoidal-kjv sinusoidal-wide-kjv \
  learned-kjv; do
  if [[ $model == learned-kjv ]]; then  # has no positions beyond 256
    read_by $model --windows 256
    read_by $model --windows 256 --stride 64
  else
    read_by $model --windows 256,512,1024,2048
    read_by $model --windows 256 --stride 64
    read_by $model --windows 1024 --stride 256
  fi
done
join_runs
