# How far each format may go before the a-priori bound passes 0.05 logits.
load "experiments/style.gnuplot"
set logscale xy
set format y "10^{%L}"
set format x "10^{%L}"
set label 1 "largest context with a rounding bound below 0.05 logits (ideal-trig)"
set label 2 "max phase, rad"
table = "results/conditioning.csv"
plot for [dtype in "bfloat16 float16 float32 float64"] table \
       skip 1 using (strcol(6) eq dtype && strcol(7) eq "ideal-trig" && column(1) == 65536 \
                     ? column(2) : NaN):16 with linespoints title dtype noenhanced
