#!/usr/bin/env bash
# examples.sh PROGRAM FILE...: in every block of a Markdown file that is fenced as ```console, the
# lines after "$ ropelab ..." are what that command prints. With FENCE="console torch" in the
# environment it is the blocks of that name, which need PyTorch: without it, exit status 77.
set -euo pipefail
fence='```'${FENCE:-console}
if [[ $fence == *torch ]]; then
  python3=$(for p in /usr/bin/python3 python3; do
    "$p" -c 'import torch' 2>/dev/null && echo "$p" && break
  done) || true
  [[ -n $python3 ]] || exit 77
  python3() { "$python3" "$@"; }
fi
program=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
ropelab() { "$program" "$@"; }

count=0
failed=0
# check COMMAND EXPECTED
check() {
  local printed
  printed=$(eval "$1" 2>&1) || true
  count=$((count + 1))
  if [[ $printed != "$2" ]]; then
    failed=$((failed + 1))
    printf 'The README says of\n  $ %s\n' "$1"
    diff <(echo "$2") <(echo "$printed") || true
  fi
}

command=
expected=
finish() {
  if [[ -n $command ]]; then
    check "$command" "${expected%$'\n'}"
  fi
  command=
  expected=
}

for file in "$@"; do
  inside=false
  while IFS= read -r line; do
    case $line in
      "$fence") inside=true ;;
      '```') finish; inside=false ;;
      '$ '*) if $inside; then finish; command=${line#'$ '}; fi ;;
      *) if $inside && [[ -n $command ]]; then expected+=$line$'\n'; fi ;;
    esac
  done <"$file"
done
echo "$count examples, $failed of them wrong"
((count > 0 && failed == 0))
