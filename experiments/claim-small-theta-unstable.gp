# Does rounding get worse as theta shrinks? Context 4096, and 65536 once;
# float16 has a point at max phase 1 only, since N overflows below.
load "experiments/style.gnuplot"
set label 1 "largest rounding error over all pairs, logits"
set label 2 "max phase, rad"
set logscale xy
set format xy "10^{%L}"
set xrange [1e-6:1]
set yrange [1e-4:1e3]
file = "results/claim-small-theta-unstable.csv"
# Points of one format, pipeline and context; any other is left out.
pick(dtype, pipeline, context) = (strcol("dtype") eq dtype && strcol("pipeline") eq pipeline \
  && column("context") == context ? column("rounding_max_abs") : NaN)
set datafile missing NaN
plot \
  file using "max_phase":(pick("bfloat16", "naive", 4096)) with linespoints title "bfloat16, naive", \
  file using "max_phase":(pick("bfloat16", "fused", 4096)) with linespoints title "bfloat16, fused", \
  file using "max_phase":(pick("float16", "ideal-trig", 4096)) with linespoints \
    title "float16", \
  file using "max_phase":(pick("float32", "ideal-trig", 65536)) with linespoints \
    title "float32, 64K", \
  file using "max_phase":(pick("float32", "ideal-trig", 4096)) with linespoints title "float32"
