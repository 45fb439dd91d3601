"""Pairs per second of the same work in plain NumPy, float32, by blocks of queries.

The columns of the error table: largest rounding and total error with their pair, both rms, the
order of neighbours, the largest visible error. Prints one number, per second of processor time.
"""
import os
import time

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np

CONTEXT = 16384
BLOCK = 64
SLOPE = 2.0**-8
HEAD_DIM = 64


def main():
    theta = 0.1 / CONTEXT
    amplitude = SLOPE * HEAD_DIM**0.5 / theta
    phase = np.arange(CONTEXT) * theta
    cosine, sine = np.cos(phase).astype(np.float32), np.sin(phase).astype(np.float32)
    query = (-np.float32(amplitude) * cosine, -np.float32(amplitude) * sine)
    key = (-sine, cosine)
    scale = np.float32(HEAD_DIM**-0.5)
    distance = np.arange(CONTEXT)
    bias = -SLOPE * distance
    simulated = -SLOPE / theta * np.sin(distance * theta)

    largest = [(0.0, 0, 0), (0.0, 0, 0)]
    squares = [0.0, 0.0]
    lost = 0
    visible = 0.0
    pairs = 0
    start = time.process_time()
    for first in range(0, CONTEXT, BLOCK):
        i = np.arange(first, first + BLOCK)[:, None]
        j = np.arange(0, first + BLOCK)[None, :]
        causal = j <= i
        score = (query[0][i] * key[0][j] + query[1][i] * key[1][j]) * scale
        wide = score.astype(np.float64)
        d = np.where(causal, i - j, 0)
        for which, target in enumerate((simulated, bias)):
            error = np.where(causal, np.abs(wide - target[d]), 0)
            place = np.unravel_index(np.argmax(error), error.shape)
            if error[place] > largest[which][0]:
                largest[which] = (error[place], first + place[0], place[1])
            squares[which] += float(np.sum(error * error))
            if which == 1:
                seen = causal & (SLOPE * d <= 16 * np.log(2))
                visible = max(visible, float(np.max(error, where=seen, initial=0.0)))
        lost += int(np.sum(~(score[:, :-1] < score[:, 1:]) & causal[:, 1:]))
        pairs += int(np.sum(causal))
    print(pairs / (time.process_time() - start))


main()
