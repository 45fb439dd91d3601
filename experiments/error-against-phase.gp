# Rounding, truncation and visible error against max phase, computed in each format.
load "experiments/style.gnuplot"
set logscale xy
set format y "10^{%L}"
set format x "10^{%L}"
set label 1 "largest error over all pairs, logits (context 4096, ideal-trig)"
set label 2 "max phase, rad"
table = "results/error-against-phase.csv"
is(dtype) = strcol(11) eq dtype && strcol(12) eq "ideal-trig"
plot for [dtype in "float8_e5m2 bfloat16 float16 float32 float64"] table \
       skip 1 using (is(dtype) ? column(2) : NaN):20 with linespoints title dtype noenhanced, \
     table skip 1 using (is("float64") ? column(2) : NaN):17 with lines dashtype 2 lc "black" \
       title "truncation"
