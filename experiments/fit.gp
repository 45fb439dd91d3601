# The largest error of the best representation against the number of rotated pairs.
load "experiments/style.gnuplot"
set logscale y 10
set xrange [0.8:6.2]
set xtics 1
set label 1 "largest error over all pairs, logits (context 2048, fused; bfloat16 dashed)"
set label 2 "rotated pairs"
table = "results/fit.csv"
targets = "sinusoidal kerple-power sandwich kerple-log t5 alibi"
is(target, dtype) = strstrt(strcol(2), target) == 1 && strcol(7) eq dtype
plot for [n = 1:5] table \
       skip 1 using (is(word(targets, n), "float32") ? column(10) : NaN):23 with linespoints \
       linetype n title word(targets, n) noenhanced, \
     for [n = 1:6] table \
       skip 1 using (is(word(targets, n), "bfloat16") ? column(10) : NaN):23 with linespoints \
       linetype n dashtype 2 title (n == 6 ? "alibi" : "") noenhanced
