#!/usr/bin/env bash
# Installs what is missing, builds, and recomputes everything in results/: a table for each
# experiments/*.toml, the claims of both sets (ropelab reproduce), and a picture for each
# experiments/*.gp. Names restrict it to some of the experiments:
#   experiments/reproduce.sh error-against-theta
# What takes many minutes is done only when it is named: experiments/long/*.toml, and the search
# for the proof of the least bases:
#   experiments/reproduce.sh design-grid-64k bloom-extrapolation
#   experiments/reproduce.sh least-base-proof
set -euo pipefail
export LC_ALL=C.UTF-8  # the same order of files everywhere
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh

# wanted NAME: whether NAME is among the arguments of this script, or there are none.
arguments=("$@")
wanted() {
  ((${#arguments[@]} == 0)) || named "$1"
}
named() {
  [[ " ${arguments[*]} " == *" $1 "* ]]
}

# How many digits of a model's figures are kept: its sums are OpenBLAS's, in float32 but for one
# table, and their last digits are another processor's business.
declare -A digits=([bloom-pair]=6 [bloom-design]=6 [bloom-rotary]=6 [bloom-extrapolation]=12)

# round_figures DIGITS FILE...: numbers with more digits are rounded; all other text stays.
round_figures() {
  local file
  for file in "${@:2}"; do
    awk -F, -v OFS=, -v digits="$1" '{
      for (n = 1; n <= NF; ++n) {
        if ($n ~ /^-?[0-9]+[.][0-9]+(e[-+]?[0-9]+)?$/) $n = sprintf("%." digits "g", $n)
      }
      print
    }' "$file" >"$file.part"
    mv "$file.part" "$file"
  done
}

# run_experiment FILE: its first line, "# ropelab sweep theta", says which command answers it. Where
# several runs do, there is a script beside it, which is given the program.
run_experiment() {
  local name script=${1%.toml}.sh
  name=$(basename "$1" .toml)
  if [[ -e $script ]]; then
    echo "$name: $script $ropelab"
    "$script" "$ropelab"
  else
    run_once "$1" "$name"
  fi
  if [[ -n ${digits[$name]:-} ]]; then
    round_figures "${digits[$name]}" "results/$name.csv" "results/$name"-*.csv
  fi
}
run_once() {  # FILE NAME
  local name=$2 command
  read -r -a command < <(sed --quiet '1s/^# ropelab //p' "$1") || {
    echo "$1: the first line must name the command, as in '# ropelab sweep theta'" >&2
    return 1
  }
  echo "$name: ropelab ${command[*]} --config $1 -o results/$name.csv"
  "$ropelab" "${command[@]}" --config "$1" -o "results/$name.csv"
}

# keep_what_lasts FILE...: takes out of manifests what another machine or another day changes, so
# that results/ changes only where a figure does. Each key has a line of its own.
keep_what_lasts() {
  sed --in-place --regexp-extended \
    '/^  "(commit|compiler|flags|instruction_set|threads|wall_time_seconds)":/d' "$@"
}

# draw FILE: gnuplot's version is the one thing in a picture that differs between machines.
draw() {
  local picture
  picture=results/$(basename "$1" .gp).svg
  echo "$picture: gnuplot $1"
  gnuplot "$1" | sed 's/Produced by GNUPLOT [^<]*/Produced by GNUPLOT/' >"$picture.part"
  mv "$picture.part" "$picture"
}

install_packages "${build_packages[@]}" gnuplot-nox
build
ropelab=build/$preset/ropelab

for config in experiments/*.toml; do
  if wanted "$(basename "$config" .toml)"; then
    run_experiment "$config"
  fi
done
for config in experiments/long/*.toml; do
  if named "$(basename "$config" .toml)"; then
    run_experiment "$config"
  fi
done
if named least-base-proof; then
  "$ropelab" frequencies --least-base --rope-dim 128 \
    --context 1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M --proof experiments/least-base-proof.csv
  rm experiments/least-base-proof.manifest.json  # the line above says it all
fi
if wanted reproduce; then
  for set in articles literature; do
    echo "ropelab reproduce --set $set -o results/"
    "$ropelab" reproduce --set "$set" -o results/
  done
fi
manifests=(results/*.manifest.json)
if ((${#manifests[@]} > 0)); then
  keep_what_lasts "${manifests[@]}"
fi
for script in experiments/*.gp; do
  if wanted "$(basename "$script" .gp)"; then
    draw "$script"
  fi
done
