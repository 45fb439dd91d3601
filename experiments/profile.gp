# Rounding error by distance, over all pairs of positions, beside truncation error and bias.
load "experiments/style.gnuplot"
set logscale xy
set format y "10^{%L}"
set format x "10^{%L}"
set yrange [1e-12:1e5]
set label 1 "largest error among pairs of a distance, logits (context 65536, ideal-trig)"
set label 2 "distance (the last of each power of two)"
table = "results/profile.csv"
is(dtype) = strcol(11) eq dtype && strcol(12) eq "ideal-trig" && column(14) > 0
plot for [dtype in "bfloat16 float32 float64"] table \
       skip 1 using (is(dtype) ? column(14) : NaN):18 with linespoints title dtype noenhanced, \
     table skip 1 using (is("float64") ? column(14) : NaN):15 with lines dashtype 2 lc "black" \
       title "truncation", \
     table skip 1 using (is("float64") ? column(14) : NaN):(column(9) * column(14)) with lines \
       lc "black" title "bias"
