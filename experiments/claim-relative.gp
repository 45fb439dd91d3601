# By how much the score of one distance depends on where the pair stands.
load "experiments/style.gnuplot"
set label 1 "largest change of F over all positions, logits"
set label 2 "distance, positions"
set logscale xy
set format xy "10^{%L}"
set xrange [1:4096]
file = "results/claim-relative.csv"
pick(dtype) = (strcol("dtype") eq dtype && strcol("pipeline") eq "ideal-trig" \
  && column("largest_change") > 0 ? column("largest_change") : NaN)
set datafile missing NaN
plot for [dtype in "bfloat16 float16 float32 float64"] \
  file using "distance":(pick(dtype)) with linespoints title dtype
