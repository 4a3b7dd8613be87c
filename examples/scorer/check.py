#!/usr/bin/python3
"""Hold what tailtrace explain said of a scenario against what was done.

Judged are the requests of the tail that spent at least half of their time under
a burst of the hog, or waiting for the lock under a miss of another request: they
should have the scenario's verdict, and their evidence should name who did it.
Requests that were slow for reasons of their own do not count.

How much a neighbour slows the scorer is the machine's affair. Judged are all
requests under one of its bursts that ran for longer than normal, if only by a
little: the neighbour should be named. In the tail for having run for longer, and
under a burst that slowed requests, the verdict should be slow-core; under another
burst, such a request had a reason of its own.

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
SLOWED = 1.5  # a burst slows requests that run for so many times as long as just before and after it
CONTROLS = (-4, 4)  # where there is no burst: so many lengths of a burst away from one


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
    if burst["slows"] and request["tail"] and 2 * longer >= sum(max(ns, 0) for ns in request["excess_ns"].values()):
        claims["verdict slow-core, in the tail"] = request["verdict"] == "slow-core"
    return claims


def slowdown(requests, bursts):
    """Mark the bursts that slowed requests; return what to say of them, beside as long times without a burst."""
    ratios = [ratio(requests, burst) for burst in bursts]
    for burst, by in zip(bursts, ratios):
        burst["slows"] = by is not None and by >= SLOWED
    elsewhere = [ratio(requests, moved(burst, by)) for burst in bursts for by in CONTROLS]
    notes = []
    for name, found in (("under a burst", ratios), ("at other times", elsewhere)):
        found = [by for by in found if by is not None]
        if not found:
            notes.append(f"{name} there were too few requests to compare")
            continue
        slowed = sum(by >= SLOWED for by in found)
        notes.append(
            f"{name} requests ran {statistics.median(found):.2f} times as long as just before and after"
            f" (median of {len(found)}), {SLOWED} times or more in {slowed}"
        )
    if any(by is not None for by in ratios) and not any(burst["slows"] for burst in bursts):
        notes.append("no burst slowed requests: no verdict is asked for")
    return notes


def ratio(requests, time):
    """Return by how much longer requests ran in a time than just before it and just after, whichever was longer.

    A virtual machine is faster in one second than in the next; so both sides count.
    """
    before, during, after = (
        [r["parts_ns"].get("running", 0) for r in requests if 2 * overlap(r, part) >= r["latency_ns"]]
        for part in (moved(time, -1), time, moved(time, 1))
    )
    if min(len(before), len(during), len(after)) < FEWEST:
        return None
    return statistics.median(during) / max(statistics.median(before), statistics.median(after))


def moved(time, lengths):
    """Return a time that is earlier or later by some of its lengths."""
    by = lengths * (time["end_ns"] - time["begin_ns"])
    return {"begin_ns": time["begin_ns"] + by, "end_ns": time["end_ns"] + by}


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
    notes = slowdown(requests, causes) if args.scenario == "neighbour" else []
    judged = judge(globals()[args.scenario], requests, causes, waits)
    print(f"{args.scenario}: {len(judged)} requests to be judged, of {len(causes)} times")
    for note in notes:
        print(f"  {note}")
    if len(judged) < FEWEST:
        print(f"fewer than {FEWEST}: nothing can be said")
        sys.exit(UNDECIDED)
    shares = []
    for claim in dict.fromkeys(claim for claims in judged for claim in claims):
        held = [claims[claim] for claims in judged if claim in claims]
        share = count(claim, held)
        if len(held) >= FEWEST:
            shares.append(share)
    shares.append(count("all of it", [all(claims.values()) for claims in judged]))
    if min(shares) < args.require:
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
