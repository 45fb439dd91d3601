# How far the next-byte distributions move when ALiBi is replaced by the pair, by format and phase.
load "experiments/style.gnuplot"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set label 1 "mean KL divergence from the native model, nats (16 windows of 1024 bytes)"
set label 2 "max phase, rad"
table = "results/bloom-pair.csv"
is(dtype, pipeline) = strcol(4) eq "pair" && strcol(5) eq dtype && strcol(6) eq pipeline
of(dtype, pipeline) = is(dtype, pipeline) ? column(7) : NaN
control = "`awk -F, '$4 == "native-relative" {print $15}' results/bloom-pair.csv`" + 0
plot for [pipeline in "naive fused"] for [dtype in "bfloat16 float16 float32"] table \
       skip 1 using (of(dtype, pipeline)):15 with linespoints \
       title dtype." ".pipeline noenhanced, \
     table skip 1 using (of("float64", "naive")):15 with linespoints title "float64", \
     control with lines dashtype 2 lc "black" title "-m(i-j) for +mj"
