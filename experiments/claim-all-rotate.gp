# How far the content of a score gets lost where the ordinary dimensions rotate too.
load "experiments/style.gnuplot"
set label 1 "change of the content score, logits"
set label 2 "distance, positions"
set logscale xy
set format xy "10^{%L}"
set xrange [1:65536]
set yrange [1e-3:1e5]
file = "results/claim-all-rotate.csv"
of(exponent, x) = column("base") == 10**exponent ? x : NaN
plot for [e = 4:7:3] \
  file using "distance":(of(e, column("change_rms"))) with linespoints \
  title sprintf("rms, base 1e%d", e), \
  file using "distance":(of(4, column("change_max"))) with linespoints title "largest, base 1e4", \
  file using "distance":(of(4, -column("bias_head_1"))) with lines title "bias, head 1 of 16", \
  file using "distance":(of(4, -column("bias_head_16"))) with lines title "bias, head 16"
