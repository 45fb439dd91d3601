# The largest total error of head 1 of 16 against the context, by method, in pipeline fused.
load "experiments/style.gnuplot"
set logscale xy
set format y "10^{%L}"
set label 1 "largest total error over all pairs, logits (head 1 of 16, fused)"
set label 2 "context"
table = "results/design-reach.csv"
is(dtype, method) = column(3) == 1 && strcol(6) eq dtype && strcol(7) eq "fused" && strcol(8) eq method
plot for [method in "single multi-pair rank-2"] for [dtype in "bfloat16 float16 float32"] table \
       skip 1 using (is(dtype, method) ? column(1) : NaN):22 with linespoints \
       title dtype." ".method noenhanced
