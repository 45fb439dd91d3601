#!/usr/bin/env bash
# bloom-rotary.sh PROGRAM: bloom-rotary.toml in windows of several lengths and far from the origin,
# 16384 tokens each. results/bloom-rotary-predicted.csv puts beside the model what `ropelab dot
# --random` says without one: the rms error of rotated dot products over their own rms, of vectors 24
# tokens apart at eight places of the window. The model adds its scores up in float32, so these do.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=several-runs.sh
source "$(dirname "${BASH_SOURCE[0]}")/several-runs.sh"
begin_runs bloom-rotary "$1"
predicted=results/bloom-rotary-predicted.csv

# predict WINDOW FIRST: after a run of that window, a row for each of its own.
predict() {
  local run_table
  run_table=$runs_folder/$(printf %03d "$runs_count")/bloom-rotary.csv
  "$runs_program" dot --random 50 --i 24 --j 0 --rope-dim 32 --base 1e4 --layout half \
    --offset "$2:$(($2 + $1 - 25)):8" --dtype bfloat16,float16,float32 \
    --pipeline naive,accumulation=float32,ideal-trig,accumulation=float32,fp32-rope,fused |
    sed 's/"\([^",]*\)[^"]*"/\1/' |
    awk -F, -v OFS=, -v window="$1" -v first="$2" '
      NR == FNR {  # the places of a setting are put together; without a score there is no error
        if (FNR > 1) {
          places[$6 "," $7]++
          sum[$6 "," $7] += ($10 / $9) ^ 2
          if ($10 == "") overflow[$6 "," $7] = 1
        }
        next
      }
      FNR > 1 {
        setting = $5 "," $6
        error = setting in overflow ? "" : sqrt(sum[setting] / places[setting])
        print window, first, setting, error, $19, $15, $10
      }' - <(sed 's/"\([^",]*\)[^"]*"/\1/' "$run_table") >>"$predicted"
}

echo window,first_position,dtype,pipeline,predicted_error,rms_logit_change,mean_kl,difference \
  >"$predicted"
for window in 256 512 1024 2048; do
  run bloom tests/data/bloom/rotary-kjv --windows $window --limit $((16384 / window)) \
    --config experiments/bloom-rotary.toml
  predict $window 0
done
for first in 65536 1048576; do
  run bloom tests/data/bloom/rotary-kjv --windows 256 --limit 64 --first-position $first \
    --config experiments/bloom-rotary.toml
  predict 256 $first
done
join_runs
