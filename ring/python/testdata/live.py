"""Publishes from several threads at once: live.py DIR SLOTS THREADS COUNT.

Says "ready" when the ring is there and begins at a line on standard input. The
ids of thread t are t * COUNT and up.
"""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tailtrace_ring

directory = sys.argv[1]
slots, threads, count = map(int, sys.argv[2:])
ring = tailtrace_ring.open("live", slots, directory)


def publish(first):
    for id in range(first, first + count):
        with ring.window(id, "/live") as w:
            w.mark("step")
            w.suspend()
            w.resume()


print("ready", flush=True)
sys.stdin.readline()
workers = [threading.Thread(target=publish, args=(t * count,)) for t in range(threads)]
for w in workers:
    w.start()
for w in workers:
    w.join()
ring.close()
