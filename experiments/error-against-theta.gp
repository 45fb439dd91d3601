# Rounding and truncation error against theta at context 65536.
load "experiments/style.gnuplot"
set logscale xy
set format y "10^{%L}"
set format x "10^{%L}"
set label 1 "largest error over all pairs, logits (context 65536, ideal-trig)"
set label 2 "theta, rad per position"
table = "results/error-against-theta.csv"
plot for [dtype in "bfloat16 float16 float32 float64"] table \
       skip 1 using (strcol(11) eq dtype ? column(3) : NaN):20 with linespoints title dtype \
       noenhanced, \
     table skip 1 using (strcol(11) eq "float64" ? column(3) : NaN):17 with lines dashtype 2 \
       lc "black" title "truncation"
