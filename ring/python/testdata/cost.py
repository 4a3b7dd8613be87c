"""Prints what publishing costs in Python: CPU time, the least of several runs, ns."""

import asyncio
import os
import platform
import sys
import time
import timeit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tailtrace_ring

COUNT = 20000
ring = tailtrace_ring.open("cost")
record = (2, ring._word("/cost") >> 48, 0, bytes(16), 1, 2, 0, 0, 0, ())


def publish():
    ring._publish(record)


def window():
    with ring.window(12345, "/cost"):
        pass


def marks():
    with ring.window(12345, "/cost") as w:
        for step in "abcdef":
            w.mark(step)


async def handler(scope, receive, send):
    await asyncio.sleep(0)


async def requests(app):
    scope = {"type": "http", "path": "/cost", "headers": [(b"host", b"x"), (b"x-request-id", b"12345")]}
    begin = time.process_time()
    for _ in range(COUNT):
        await app(scope, None, None)
    return (time.process_time() - begin) / COUNT * 1e9


def report(what, ns):
    print("Python %s %-28s %6.0f ns" % (platform.python_version(), what, ns))


for call, what in ((publish, "publish"), (window, "window"), (marks, "window with 6 marks")):
    report(what, min(timeit.repeat(call, number=COUNT, repeat=7, timer=time.process_time)) / COUNT * 1e9)
bare = min(asyncio.run(requests(handler)) for _ in range(5))
traced = min(asyncio.run(requests(ring.asgi(handler))) for _ in range(5))
report("ASGI request with one await", traced - bare)
ring.close()
