# What more rotated pairs bring, at context 2048.
load "experiments/style.gnuplot"
set logscale y
set format y "10^{%L}"
set xrange [0.5:8.5]
set label 1 "largest total error over all pairs, logits (head 1 of 16, context 2048, fused)"
set label 2 "rotated pairs"
table = "results/design-pairs.csv"
is(dtype, method) = strcol(6) eq dtype && strcol(8) eq method
plot for [method in "dyadic multi-pair"] for [dtype in "bfloat16 float16 float32"] table \
       skip 1 using (is(dtype, method) ? column(9) : NaN):22 with linespoints \
       title dtype." ".method noenhanced
