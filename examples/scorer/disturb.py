#!/usr/bin/python3
"""Disturb the scorer in short bursts at random moments, and write down when.

hog: a real-time task that wants the scorer's own CPU.
memory: a batch job with a low priority on another CPU, which streams through
far more memory than the caches hold.

Each burst is a row with begin_ns and end_ns, of CLOCK_MONOTONIC, and cpu_ns, the
CPU time that it got. It goes on until SIGTERM.
"""

import argparse
import ctypes
import json
import os
import random
import signal
import sys
import time

SEED = 3
CHUNK = 4 << 20


def hog(args):
    """Return a step of work that keeps a CPU busy, whatever it does."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    return lambda: sum(range(1000))


def memory(args):
    """Return a step of work that copies a chunk of a large block of memory."""
    give_way()
    half = max(1, (args.megabytes << 20) // 2 // CHUNK)
    block = (ctypes.c_char * (2 * half * CHUNK))()
    ctypes.memset(block, 1, len(block))  # so that it is memory, not one page of zeros
    at = ctypes.addressof(block)
    turn = 0

    def step():
        nonlocal turn
        ctypes.memmove(at + turn * CHUNK, at + (half + turn) * CHUNK, CHUNK)
        turn = (turn + 1) % half

    step.block = block
    return step


def give_way():
    """Take a low priority, in whichever class of the scheduler this is."""
    policy = os.sched_getscheduler(0)
    if policy in (os.SCHED_FIFO, os.SCHED_RR):  # they know no nice
        os.sched_setscheduler(0, policy, os.sched_param(os.sched_get_priority_min(policy)))
    else:
        os.nice(10)


def burst(step, ns):
    cpu, begin = time.thread_time_ns(), time.monotonic_ns()
    while time.monotonic_ns() - begin < ns:
        step()
    return {"begin_ns": begin, "end_ns": time.monotonic_ns(), "cpu_ns": time.thread_time_ns() - cpu}


def name_process(name):
    PR_SET_NAME = 15
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["hog", "memory"])
    parser.add_argument("--cpu", type=int, required=True, help="the CPU to run on")
    parser.add_argument("--truth", required=True, help="file for the bursts, JSON lines")
    parser.add_argument("--every", type=float, default=0.1, help="seconds between bursts, on average (default: %(default)s)")
    parser.add_argument("--burst", type=float, default=0.004, help="seconds of a burst, on average (default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=1024, help="for memory: how much (default: %(default)s)")
    args = parser.parse_args()
    if min(args.every, args.burst, args.megabytes) <= 0:
        parser.error("every, burst and megabytes must be positive")

    os.sched_setaffinity(0, {args.cpu})
    name_process(args.what)
    step = globals()[args.what](args)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    rng = random.Random(SEED)
    with open(args.truth, "w", encoding="utf-8", buffering=1) as out:
        print("ready", flush=True)
        while True:
            time.sleep(args.every * rng.uniform(0.5, 1.5))
            row = burst(step, 1e9 * args.burst * rng.uniform(0.5, 1.5))
            out.write(json.dumps({"pid": os.getpid(), **row}) + "\n")


if __name__ == "__main__":
    try:
        main()
    except OSError as problem:
        sys.exit(f"disturb: {problem}")
