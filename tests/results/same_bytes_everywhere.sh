#!/usr/bin/env bash
# same_bytes_everywhere.sh PROGRAM...: one sweep over every format, pipeline and arithmetic prints
# the same bytes whatever the instruction set, the number of threads, and the build: programs may
# come from other compilers and other -O levels.
set -euo pipefail

sweep=(sweep context --context 1,65,1100 --max-phase 1e-3,0.5 --head 16 --head-dim 64,80
  --dtype float16,bfloat16,float32,float64,float8_e5m2
  --pipeline naive,fused,ideal-trig,storage=float16,accumulation=float32-fma)
expected=
for program in "$@"; do
  for set in scalar sse4 avx2 avx512; do
    for threads in 1 2; do
      printed=$("$program" "${sweep[@]}" --instruction-set $set --threads $threads | sha256sum)
      if [[ ${expected:=$printed} != "$printed" ]]; then
        echo "$program prints other bytes with --instruction-set $set --threads $threads" >&2
        exit 1
      fi
    done
  done
done
echo "the same bytes from $(($# * 8)) runs of ${sweep[*]}: ${expected%% *}"
