# What a model's own frequencies can do: the largest total error by the base of the grid.
load "experiments/style.gnuplot"
set logscale xy
set format xy "10^{%L}"
set xrange [5e3:2e7]
set label 1 "largest total error over all pairs, logits (head 1 of 16, at most 8 pairs, fused)"
set label 2 "base"
# Cells that hold commas, made words.
table = "< sed 's/,base=/ base=/; s/,rope-dim=/ dim=/; s/,max-pairs=/ pairs=/; s/\"//g' " . \
  "results/design-grid.csv"
is(dtype, context, dim) = strcol(6) eq dtype && column(1) == context && \
  strstrt(strcol(7), sprintf("dim=%d pairs=8", dim)) > 0
base(cell) = real(word(cell, 2)[6:])
plot for [dim = 64:128:64] for [context = 2048:8192:6144] for [dtype in "float16 bfloat16 float32"] table \
       skip 1 using (is(dtype, context, dim) ? base(strcol(7)) : NaN):22 with linespoints \
       title sprintf("%s %dK dim %d", dtype, context / 1024, dim) noenhanced
