# The loss against the position in a window of 2048, of models trained alike on windows of 256.
load "experiments/style.gnuplot"
set logscale x 2
set xrange [50:2400]
set logscale y
set yrange [1.2:10]
set ytics (1.25, 1.5, 2, 3, 4, 6, 8)
set label 1 "mean loss of the bytes at these positions, nats (windows of 2048)"
set label 2 "position (the last of each bin; training: 256)"
table = "results/bloom-extrapolation-by-position.csv"
is(model) = strcol(1) eq model."-kjv" && column(2) == 2048 && strstrt(strcol(5), "-") > 0
last(bin) = real(bin[strstrt(bin, "-") + 1:*])
models = "none sinusoidal sinusoidal-wide rotary t5 alibi-256 tiny"
plot for [model in models] table skip 1 using (is(model) ? last(strcol(5)) : NaN):10 \
       with linespoints title model noenhanced
