# The loss against the length of the window, of models trained alike on windows of 256.
load "experiments/style.gnuplot"
set logscale x 2
set xrange [220:2400]
set logscale y
set yrange [1.2:10]
set ytics (1.25, 1.5, 2, 3, 4, 6, 8)
set label 1 "mean loss over 65536 held-out bytes, nats (windows do not overlap)"
set label 2 "length of the window (training: 256)"
table = "results/bloom-extrapolation-by-position.csv"
is(model) = strcol(1) eq model."-kjv" && strcol(3) eq "nonoverlapping" && strcol(5) eq "all"
models = "none sinusoidal sinusoidal-wide rotary t5 alibi-256 tiny learned"
plot for [model in models] table skip 1 using (is(model) ? column(2) : NaN):10 with linespoints \
       title model noenhanced
