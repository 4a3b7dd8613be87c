#!/usr/bin/python3
"""Hold what tailtrace explain said of a scenario against what was done.

Judged are the requests of the tail that spent at least half of their time under
a burst of the hog, or waiting for the lock under a miss of another request: they
should have the scenario's verdict, and their evidence should name who did it.
Requests that were slow for reasons of their own do not count.

How much a neighbour slows the scorer is the machine's affair. Judged are all
requests under one of its bursts that ran for longer than normal, if only by a
little: the neighbour should be named; and if such a request is in the tail for
having run for longer, its verdict should be slow-core.

Exit status 3: too few are right. 4: there were too few to judge.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

BELOW, UNDECIDED = 3, 4
FEWEST = 3  # requests that can be judged


def overlap(a, b):
    return min(a["end_ns"], b["end_ns"]) - max(a["begin_ns"], b["begin_ns"])


def judge(scenario, requests, causes, waits):
    """Return what holds of each request that was under one of the causes."""
    judged = []
    for request in requests:
        hit = waits.get(request["id"]) if scenario is convoy else request
        cause = max(causes, key=lambda c: overlap(hit, c), default=None) if hit else None
        if cause and 2 * overlap(hit, cause) >= request["latency_ns"]:
            claims = scenario(request, cause)
            if claims:
                judged.append(claims)
    return judged


def evidence(of, *what, **fields):
    """Return a request's evidence of the given kinds with these fields."""
    return [
        e for e in of["evidence"] if e["what"] in what and all(e.get(name) == value for name, value in fields.items())
    ]


def hog(request, burst):
    if not request["tail"]:
        return None
    took = [e for e in evidence(request, "occupant", pid=burst["pid"]) if "disturb.py hog" in e["cmdline"]]
    return {
        "verdict preempted or waking": request["verdict"] in ("preempted", "waking"),
        "the hog named, with its command": bool(took),
    }


def convoy(request, miss):
    if not request["tail"] or request["id"] == miss["id"]:
        return None
    held = evidence(request, "waker-was", "holder-was", tid=miss["tid"], request=str(miss["id"]))
    ran = [e for e in held if e["state"] == "running" and e.get("step") == "lookup"]
    return {
        "verdict lock": request["verdict"] == "lock",
        "the holder's thread and request named": bool(held),
        "the holder's step named": any(e.get("step") == "lookup" for e in held),
        # One that was kept from running was found in no call.
        "the holder's calls named": not ran or any(e.get("calls") for e in ran),
    }


def neighbour(request, burst):
    longer = request["excess_ns"].get("running", 0)
    if longer <= 0:
        return None
    there = [e for e in evidence(request, "other-cpu-task", pid=burst["pid"]) if "disturb.py memory" in e["cmdline"]]
    claims = {"the neighbour named, with its command": bool(there)}
    if request["tail"] and 2 * longer >= sum(max(ns, 0) for ns in request["excess_ns"].values()):
        claims["verdict slow-core, in the tail"] = request["verdict"] == "slow-core"
    return claims


def slowdown(requests, bursts):
    """Return by how much longer a request runs under a burst, as a ratio of medians; None where that is not known."""
    under, others = [], []
    for request in requests:
        is_under = any(2 * overlap(request, b) >= request["latency_ns"] for b in bursts)
        (under if is_under else others).append(request["parts_ns"].get("running", 0))
    return statistics.median(under) / statistics.median(others) if under and others else None


def load(directory):
    with open(directory / "truth.jsonl", encoding="utf-8") as file:
        truth = [json.loads(line) for line in file]
    with open(directory / "explain.json", encoding="utf-8") as file:
        requests = json.load(file)["requests"]
    waits = {row["id"]: row for row in truth if row.get("what") == "wait"}
    # A burst that did not get the CPU disturbed nobody.
    causes = [
        row
        for row in truth
        if row.get("what") != "wait" and 2 * row.get("cpu_ns", math.inf) >= row["end_ns"] - row["begin_ns"]
    ]
    return requests, causes, waits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=["hog", "convoy", "neighbour"])
    parser.add_argument("dir", type=pathlib.Path, help="what run.sh left: explain.json and truth.jsonl")
    parser.add_argument("--require", type=float, default=0.8, help="share to be right in all (default: %(default)s)")
    args = parser.parse_args()

    requests, causes, waits = load(args.dir)
    judged = judge(globals()[args.scenario], requests, causes, waits)
    print(f"{args.scenario}: {len(judged)} requests to be judged, of {len(causes)} times")
    if args.scenario == "neighbour" and (ratio := slowdown(requests, causes)):
        print(f"  under a burst requests ran {ratio:.3f} times as long as without")
    if len(judged) < FEWEST:
        print(f"fewer than {FEWEST}: nothing can be said")
        sys.exit(UNDECIDED)
    for claim in dict.fromkeys(claim for claims in judged for claim in claims):
        count(claim, [claims[claim] for claims in judged if claim in claims])
    if count("all of it", [all(claims.values()) for claims in judged]) < args.require:
        print(f"that is below {args.require:.0%}")
        sys.exit(BELOW)


def count(claim, held):
    share = sum(held) / len(held)
    print(f"  {claim:40} {sum(held):6} {share:8.1%}")
    return share


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError) as problem:
        sys.exit(f"check: {type(problem).__name__}: {problem}")
