# The largest error among visible pairs, head by head, in half precision.
load "experiments/style.gnuplot"
set logscale y
set format y "10^{%L}"
set xrange [0.5:16.5]
set label 1 "largest error among visible pairs, logits (context 2048, max phase 0.1)"
set label 2 "head of 16"
table = "results/bloom-560m-heads.csv"
is(dtype, pipeline) = strcol(11) eq dtype && strcol(12) eq pipeline
plot for [dtype in "bfloat16 float16"] for [pipeline in "ideal-trig naive fp32-rope fused"] table \
       skip 1 using (is(dtype, pipeline) ? column(8) : NaN):27 with linespoints \
       title dtype." ".pipeline noenhanced, \
     table skip 1 using (is("float32", "ideal-trig") ? column(8) : NaN):27 with lines lc "black" \
       title "float32 ideal-trig"
