# What a model's logits lose to the pipeline of its rotation, beside what the dot products of random
# vectors lose at the same positions.
load "experiments/style.gnuplot"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set label 1 "rms change of the model's logits (16384 bytes)"
set label 2 "predicted: rms error of rotated dot products over their rms"
table = "results/bloom-rotary-predicted.csv"
is(dtype, pipeline) = strcol(3) eq dtype && strcol(4) eq pipeline && column(6) > 0
plot for [dtype in "bfloat16 float16 float32"] for [pipeline in "naive ideal-trig fp32-rope fused"] \
       table skip 1 using (is(dtype, pipeline) ? column(5) : NaN):6 with points \
       title dtype." ".pipeline noenhanced
