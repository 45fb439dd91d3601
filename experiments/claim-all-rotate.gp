# How far the content of a score gets lost where the ordinary dimensions rotate too.
load "experiments/style.gnuplot"
set label 1 "change of the content score, logits"
set label 2 "distance, positions"
set logscale xy
set format xy "10^{%L}"
set xrange [1:65536]
set yrange [1e-3:1e5]
file = "results/claim-all-rotate.csv"
plot \
  file using "distance":"change_rms" with linespoints title "rms", \
  file using "distance":"change_max" with linespoints title "largest", \
  file using "distance":(-column("bias_head_1")) with lines title "bias, head 1 of 16", \
  file using "distance":(-column("bias_head_16")) with lines title "bias, head 16"
