# shellcheck shell=bash
# Sourced by experiments/NAME.sh, which answers experiments/NAME.toml by several runs of ropelab:
#   begin_runs NAME PROGRAM
#   run COMMAND [OPTION]...   as often as needed
#   join_runs                 their rows are results/NAME.csv, their manifests an array
# Further tables (NAME-attention.csv) are joined likewise.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

begin_runs() {
  runs_name=$1
  runs_program=$2
  runs_folder=build/several-runs/$1
  runs_count=0
  rm -rf "$runs_folder"
  mkdir -p "$runs_folder"
}

run() {
  runs_count=$((runs_count + 1))
  local folder
  folder=$runs_folder/$(printf %03d $runs_count)
  mkdir "$folder"
  echo "ropelab $*"
  "$runs_program" "$@" -o "$folder/$runs_name.csv"
}

join_runs() {
  local first name
  for first in "$runs_folder"/001/*.csv; do
    name=$(basename "$first")
    awk 'FNR > 1 || NR == 1' "$runs_folder"/*/"$name" | grep . >"results/$name"
  done
  {
    echo '['
    local manifest comma=
    for manifest in "$runs_folder"/*/"$runs_name.manifest.json"; do
      [[ -z $comma ]] || echo ','
      comma=yes
      cat "$manifest"
    done
    echo ']'
  } >"results/$runs_name.manifest.json"
}
