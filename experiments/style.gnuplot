# What all pictures share. A picture loads this, fills in labels 1 and 2 and plots.
# The axes are named by labels, not by xlabel and ylabel, which gnuplot 5.4 and 6.0 write in
# different places: this way both write the same bytes.
set datafile separator ","
set datafile missing NaN  # rows of other curves do not break a line
set encoding utf8
set terminal svg size 800,500 font "sans-serif,14" background "white"
set tmargin 3
set bmargin 5
set grid
set key outside right
set label 1 "" at graph 0, 1.05 left      # what goes up
set label 2 "" at graph 0.5, -0.13 center # what goes right
