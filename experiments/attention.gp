# How much attention weight moves, head by head: by the pair, and by the bias as BLOOM adds it.
load "experiments/style.gnuplot"
set logscale y
set format y "10^{%L}"
set xrange [0.5:16.5]
set label 1 "total variation of the attention weights (context 2048, max phase 0.1, fused)"
set label 2 "head of 16"
table = "results/attention.csv"
is(dtype, bias) = column(2) == 0.1 && strcol(7) eq dtype && strcol(8) eq "fused" && strcol(9) eq bias
plot for [bias in "pair native-key native"] for [dtype in "bfloat16 float16 float32"] table \
       skip 1 using (is(dtype, bias) ? column(5) : NaN):10 with linespoints \
       title dtype." ".bias noenhanced
