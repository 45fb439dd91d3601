# How far a common shift of both positions changes rotated scores, against the shift.
load "experiments/style.gnuplot"
set logscale xy 2
set logscale y 10
set format y "10^{%L}"
set format x "%.0f"
set label 1 "rms change of the score (64 dimensions, base 10^4, i - j = 24)"
set label 2 "shift of both positions"
table = "results/shift.csv"
is(dtype, pipeline) = column(1) == 64 && column(2) == 10000 && column(5) > 0 && \
  strcol(6) eq dtype && strcol(7) eq pipeline
plot for [dtype in "bfloat16 float16 float32"] for [pipeline in "naive fp32-rope ideal-trig"] \
  table skip 1 using (is(dtype, pipeline) ? column(5) : NaN):12 with linespoints \
  title dtype . ", " . pipeline noenhanced
