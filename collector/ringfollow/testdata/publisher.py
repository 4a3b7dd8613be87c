"""A service under a test's command: one command a line, each answered with "ok"."""

import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../ring/python"))
import tailtrace_ring


def open_memfd(slots):
    real = tailtrace_ring._create_file
    tailtrace_ring._create_file = lambda path: os.memfd_create(os.path.basename(path))
    try:
        return tailtrace_ring.open("memfd", slots, "/dev/shm")
    finally:
        tailtrace_ring._create_file = real


def publish(ring, first, count, kind):
    for id in range(first, first + count):
        with ring.window(id, kind) as w:
            w.mark("step")
            w.thread()


ring = None
print("ok", flush=True)
for line in sys.stdin:
    command, *args = line.split()
    if command == "open":
        ring = tailtrace_ring.open(args[0], int(args[1]), args[2] if len(args) > 2 else "/dev/shm")
    elif command == "memfd":
        ring = open_memfd(int(args[0]))
    elif command == "publish":
        publish(ring, int(args[0]), int(args[1]), args[2])
    elif command == "publish-in-thread":
        thread = threading.Thread(target=publish, args=(ring, int(args[0]), 1, args[1]))
        thread.start()
        thread.join()
    elif command == "close":
        ring.close()
    elif command == "truncate":
        os.truncate("/dev/shm/tailtrace-%d.ring" % os.getpid(), int(args[0]))
    elif command == "fork":
        child = os.fork()
        if child == 0:
            publish(ring, int(args[0]), 1, "child")
            sys.stdin.readline()  # lives until the test ends
            os._exit(0)
        print(child, flush=True)
        continue
    print("ok", flush=True)
if ring is not None:
    ring.close()
