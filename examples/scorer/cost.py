#!/usr/bin/python3
"""Print each tracer's latency percentiles as ratios to no tracer's, by round."""

import json
import math
import pathlib
import statistics
import sys


def percentile(values, q):
    """Nearest rank on sorted values."""
    return values[max(math.ceil(q * len(values) - 1e-9), 1) - 1]


def latencies(path):
    rows = map(json.loads, path.open())
    return sorted(r["recv_ns"] - r["send_ns"] for r in rows if not r["warmup"])


def main():
    out, rounds, arms = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    print("latency with a tracer / without one, same round: median [lowest, highest] of", rounds, "rounds")
    print(f"{'tracer':<12}" + "".join(f"{name:>24}" for name in ("p50", "p90", "p99")))
    base = [latencies(out / f"off-{r}.jsonl") for r in range(1, rounds + 1)]
    for arm in arms[1:]:
        line = f"{arm:<12}"
        traced = [latencies(out / f"{arm}-{r}.jsonl") for r in range(1, rounds + 1)]
        for q in (0.5, 0.9, 0.99):
            ratios = [percentile(t, q) / percentile(b, q) for t, b in zip(traced, base)]
            line += f"{statistics.median(ratios):>10.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
        print(line)


if __name__ == "__main__":
    main()
