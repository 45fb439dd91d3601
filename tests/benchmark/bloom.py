"""Times bloom_forward beside experiments/torch_bloom.py, for bloom.sh; prints a table.

    bloom.py PROGRAM CHECKPOINT DESIGN [--runs 3] [--tokens 1024 2048] [--threads 2]

Runs of what is compared alternate, and the least of them counts: others may use the machine. A
ratio is that to the yardstick, and cost_percent is 100 (processor_ratio - 1).
"""

import argparse
import csv
import os
import re
import subprocess
import sys

RUN = re.compile(r"(?:(?P<bias>.+): )?(?P<wall>[\d.]+) s "
                 r"\((?P<work>[\d.]+) s of processors\), \[(?P<state>.*)\]")
PEAK = re.compile(r"peak (?P<peak>\d+) MiB(?:, OpenBLAS's (?P<kernels>\w+))?")
TORCH = os.path.join(os.path.dirname(__file__), "../../experiments/torch_bloom.py")


class Timings:
    """The least of the runs of each bias, and the peak of memory."""

    def __init__(self):
        self.wall, self.work, self.peak, self.state, self.kernels = {}, {}, 0, {}, None

    def run(self, command, environment=None):
        """Runs it, and takes in what it prints."""
        printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        for line in printed.splitlines():
            print(line, file=sys.stderr)
            if run := RUN.match(line):
                bias = run["bias"] or ""
                self.wall[bias] = min(self.wall.get(bias, float("inf")), float(run["wall"]))
                self.work[bias] = min(self.work.get(bias, float("inf")), float(run["work"]))
                self.state[bias] = [float(x) for x in run["state"].split(",")]
            elif peak := PEAK.match(line):
                self.peak = max(self.peak, int(peak["peak"]))
                self.kernels = peak["kernels"]


def environment_with(kernels):
    """What makes PyTorch use the same kernels of OpenBLAS, which it may not find by itself."""
    return {"OPENBLAS_CORETYPE": kernels, **os.environ}


def check_same(ours, torch):
    """Both must have computed the same: they add in different orders, in float32."""
    furthest = max(abs(a - b) for a, b in zip(ours, torch))
    if not furthest < 1e-3:
        sys.exit(f"ropelab and PyTorch disagree by {furthest}: {ours} and {torch}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("checkpoint")
    parser.add_argument("design")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1024, 2048])
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()

    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["what", "tokens", "processor_seconds", "seconds", "peak_memory_MiB",
                    "yardstick", "processor_ratio", "wall_ratio", "memory_ratio", "cost_percent"])

    def add_row(what, tokens, timings, bias, yardstick, of, of_bias):
        work = timings.work[bias] / of.work[of_bias]
        table.writerow([what, tokens, timings.work[bias], timings.wall[bias], timings.peak,
                        yardstick, f"{work:.3f}", f"{timings.wall[bias] / of.wall[of_bias]:.3f}",
                        f"{timings.peak / of.peak:.3f}", f"{100 * (work - 1):.1f}"])
        sys.stdout.flush()

    for tokens in arguments.tokens:
        common = [arguments.checkpoint, "--tokens", str(tokens), "--threads",
                  str(arguments.threads)]
        for logits, what in [("none", "hidden states"), ("all", "logits of all tokens")]:
            ours, torch = Timings(), Timings()
            for _ in range(arguments.runs):
                ours.run([arguments.program, *common, "--runs", "1", "--logits", logits])
                torch.run(["/usr/bin/python3", TORCH, *common, "--runs", "1", "--logits", logits],
                          environment_with(ours.kernels))
            check_same(ours.state["native"], torch.state[""])
            add_row(f"PyTorch: {what}", tokens, torch, "", "", torch, "")
            add_row(f"ropelab: {what}", tokens, ours, "native", f"PyTorch: {what}", torch, "")

        biases = {"native": "native", "pair": "pair, float32", "pair:bfloat16":
                  "pair, bfloat16 storage", "design:" + arguments.design: "design, four pairs"}
        timings = Timings()
        timings.run([arguments.program, *common, "--runs", str(arguments.runs), "--logits", "none",
                     *(word for bias in biases for word in ("--bias", bias))])
        for bias, what in biases.items():
            add_row(f"hidden states: {what}", tokens, timings, bias, "hidden states: native",
                    timings, "native")


if __name__ == "__main__":
    main()
