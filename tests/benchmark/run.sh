#!/usr/bin/env bash
# Installs what is missing, builds, and measures pairs and positions per second, as ratios to
# yardsticks of the same run, into results/benchmark/. Arguments go to Google Benchmark.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/setup.sh

install_packages "${build_packages[@]}" libbenchmark-dev python3-numpy
cmake --preset "$preset" -DROPELAB_BENCHMARKS=ON
cmake --build --preset "$preset" --parallel "$jobs" --target ropelab_benchmark ropelab
mkdir -p results/benchmark
numpy=$(/usr/bin/python3 tests/benchmark/numpy_pairs.py)
"build/$preset/tests/benchmark/ropelab_benchmark" results/benchmark/speed.csv "$numpy" \
  --benchmark_repetitions=1 "$@"

# growth CONTEXT: time and memory of every pair; time goes with its square, memory with itself.
growth() {
  /usr/bin/python3 - "$1" "build/$preset/ropelab" <<'PYTHON'
import resource, subprocess, sys, time
context, program = sys.argv[1:]
start = time.monotonic()
subprocess.run([program, "sweep", "context", "--context", context, "--pairs", "all", "--quiet",
                "--dtype", "float32"], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
pairs = int(context) * (int(context) + 1) // 2
print(f"{context},{pairs},{time.monotonic() - start:.3g},{used.ru_utime + used.ru_stime:.3g},"
      f"{used.ru_maxrss / 1024:.3g}")
PYTHON
}
{
  echo context,pairs,seconds,processor_seconds,peak_memory_MiB
  for context in 16384 65536 262144 1048576; do
    growth "$context"
  done
} >results/benchmark/growth.csv.part
mv results/benchmark/growth.csv.part results/benchmark/growth.csv
