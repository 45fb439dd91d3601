# The largest rounding error against the context, at max phase 0.1.
load "experiments/style.gnuplot"
set logscale xy 2
set logscale y 10
set format y "10^{%L}"
set label 1 "largest error over all pairs, logits (max phase 0.1, ideal-trig)"
set label 2 "context"
table = "results/error-against-context.csv"
plot for [dtype in "bfloat16 float16 float32 float64"] table \
       skip 1 using (strcol(11) eq dtype ? column(1) : NaN):20 with linespoints title dtype \
       noenhanced, \
     table skip 1 using (strcol(11) eq "float64" ? column(1) : NaN):17 with lines dashtype 2 \
       lc "black" title "truncation"
