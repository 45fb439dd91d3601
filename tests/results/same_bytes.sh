#!/usr/bin/env bash
# same_bytes.sh PROGRAM NAME: experiments/NAME.toml still prints results/NAME.csv, byte for byte.
set -euo pipefail
program=$1
name=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# As in experiments/reproduce.sh, the first line names the command.
read -r -a command < <(sed --quiet '1s/^# ropelab //p' "experiments/$name.toml")
"$program" "${command[@]}" --config "experiments/$name.toml" | cmp - "results/$name.csv"
