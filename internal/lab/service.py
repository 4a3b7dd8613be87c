"""The lab's service in the shape of an event loop: one thread that has several
requests under way. It speaks the protocol of wire.go and publishes its windows
by tailtrace_ring's middleware."""

import asyncio
import gc
import inspect
import json
import os
import select
import socket
import struct
import sys
import threading
import time

import tailtrace_ring

# What it shares with the Go part of the lab.
REQUEST = struct.Struct("<QqqQ")
REPLY = struct.Struct("<QqIIIIqqqqI28s")
ORDER = struct.Struct("<qq")
FAVOUR = struct.Struct("<QQQq")
ANSWER_LATE, STOP_ME, ANSWER_BYTES = 1, 2, 8
LISTENER, HOG, PEER = 3, 4, 5
RANK = 10
WAKING_LEAD = 100_000  # ns
STEPS = (("read", 0.05), ("lookup", 0.25), ("build", 0.15), ("predict", 0.45), ("serialize", 0.10))
INJECT_AT = 2

BACKEND = 0.001  # s that every request waits for something outside


class Worker:
    """Work of a known length."""

    def __init__(self):
        best = min(self._timed(2000) for _ in range(200))
        self._rounds = 2000 / best

    def _timed(self, rounds):
        begin = time.monotonic_ns()
        self._run(rounds)
        return max(time.monotonic_ns() - begin, 1)

    def _run(self, rounds):
        x = 1
        for _ in range(rounds):
            x = x * 1103515245 + 12345 & 0x7FFFFFFF

    def work(self, ns):
        self._run(int(ns * self._rounds))


class Causes:
    """How the service makes a request slow: a method for each cause, which says
    what it did, how often."""

    def __init__(self, setup, worker):
        self._setup = setup
        self._worker = worker
        self._turns = {}
        self._peer = socket.socket(fileno=PEER)
        self._peer.setblocking(True)
        self._lock = threading.Lock()
        self._pipe = os.pipe()
        threading.Thread(target=self._hold, daemon=True).start()
        self._heap = [[] for _ in range(20_000)]

    def find(self, index):
        """The method of a cause, by its place in the lab's registry."""
        if index < 0:
            return None
        name = self._setup["CauseNames"][index]
        return getattr(self, "_cause_" + name.replace("-", "_"), None)

    def _turn(self, name):
        self._turns[name] = self._turns.get(name, 0) + 1
        return self._turns[name] % 2

    def _ask(self, what, ns):
        self._peer.sendall(FAVOUR.pack(what, os.getpid(), threading.get_native_id(), ns))

    def _hold(self):
        """Another thread, which holds the lock when it is told to."""
        take_place(self._setup, self._setup["Others"])
        while True:
            (ns,) = struct.unpack("<q", os.read(self._pipe[0], 8))
            with self._lock:
                time.sleep(ns / 1e9)

    def _cause_preempted(self, ns):
        os.write(HOG, ORDER.pack(0, ns))
        return 1, "hog on the CPU"

    def _cause_waking(self, ns):
        os.write(HOG, ORDER.pack(WAKING_LEAD, ns))
        time.sleep(2 * WAKING_LEAD / 1e9)
        return 1, "hog ahead of a timer"

    def _cause_lock(self, ns):
        os.write(self._pipe[1], struct.pack("<q", ns))
        while not self._lock.locked():
            time.sleep(10e-6)
        with self._lock:
            return 1, "lock wait"

    def _cause_sleep(self, ns):
        time.sleep(ns / 1e9)
        return 1, "sleep of the loop"

    def _cause_net(self, ns):
        self._ask(ANSWER_LATE, ns)
        what = "recv of the loop"
        if self._turn("net"):
            what = "poll of the loop"
            poll = select.poll()
            poll.register(self._peer, select.POLLIN)
            poll.poll()
        self._peer.recv(ANSWER_BYTES)
        return 1, what

    def _cause_stopped(self, ns):
        last = begin = time.monotonic_ns()
        self._ask(STOP_ME, ns)
        while last - begin < 1_000_000_000:
            now = time.monotonic_ns()
            if now - last > ns // 2:
                return 1, "SIGSTOP"
            last = now
        raise RuntimeError("the peer did not stop the service")

    def _cause_gc(self, ns):
        end = time.monotonic_ns() + ns
        count = 0
        while time.monotonic_ns() < end:
            gc.collect()
            count += 1
        return count, "collections"

    async def _cause_await(self, ns):
        if self._turn("await"):
            await asyncio.sleep(ns / 1e9)
            return 1, "timer"
        self._ask(ANSWER_LATE, ns)
        self._peer.setblocking(False)
        await asyncio.get_running_loop().sock_recv(self._peer, ANSWER_BYTES)
        self._peer.setblocking(True)
        return 1, "late answer"


class Service(asyncio.Protocol):
    """One connection, and the application that answers it."""

    def __init__(self, setup, ring, worker, causes, stop):
        self._setup, self._worker, self._causes, self._stop = setup, worker, causes, stop
        self._app = ring.asgi(self.app, id=lambda scope: scope["id"], kind=lambda scope: "request")
        self._data = b""
        try:
            self._delay = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._delay = -1
        self._tasks = set()

    def connection_made(self, transport):
        self._transport = transport

    def connection_lost(self, error):
        self._stop.set_result(None)

    def data_received(self, data):
        data = self._data + data
        whole = len(data) - len(data) % REQUEST.size
        self._data = data[whole:]
        for id, cause, amount, _ in REQUEST.iter_unpack(data[:whole]):
            task = asyncio.ensure_future(self.answer(id, cause, amount))
            self._tasks.add(task)
            task.add_done_callback(self.answered)

    def answered(self, task):
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() and not self._stop.done():
            self._stop.set_exception(task.exception())

    def waited(self):
        """For how long, ns, this thread has been runnable without a CPU; 0 if the kernel does not say."""
        return int(os.pread(self._delay, 64, 0).split()[1]) if self._delay >= 0 else 0

    async def answer(self, id, cause, amount):
        before = self.waited()
        scope = {"type": "http", "id": id, "cause": cause, "amount": amount, "did": (0, "", 0)}
        await self._app(scope, None, None)
        count, what, took = scope["did"]
        waited = self.waited() - before
        self._transport.write(REPLY.pack(id, took, 0, 0, 0, 0, 0, waited, time.monotonic_ns(), 0, count, what.encode()))

    async def app(self, scope, receive, send):
        """The ASGI application."""
        window = tailtrace_ring.current()
        usual = self._setup["Plan"]["Work"]
        name, amount = None, scope["amount"]
        if scope["cause"] >= 0:
            name = self._setup["CauseNames"][scope["cause"]]
        else:
            usual += amount
        for i, (step, share) in enumerate(STEPS):
            if i == INJECT_AT:
                await asyncio.sleep(BACKEND)
                await self.inject(scope)
            ns = usual * share
            if name == "slow-step" and step == ("lookup", "predict")[amount % 2]:
                ns += amount
                scope["did"] = (1, "longer step", 0)
            self._worker.work(ns)
            window.mark(step)

    async def inject(self, scope):
        cause = self._causes.find(scope["cause"])
        if cause is None:
            return
        begin = time.monotonic_ns()
        did = cause(scope["amount"])
        if inspect.isawaitable(did):
            did = await did
        scope["did"] = (*did, time.monotonic_ns() - begin)


def take_place(setup, cpus):
    """Keeps the calling thread on cpus, ahead of the machine's other work."""
    os.sched_setaffinity(0, cpus)
    if not setup["Plan"]["Exposed"]:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(RANK))


async def serve(setup):
    loop = asyncio.get_running_loop()
    gc.disable()  # but for the cause
    with open("/proc/self/comm", "w") as comm:
        comm.write("lab-service")
    worker = Worker()
    causes = Causes(setup, worker)
    ring = tailtrace_ring.open(service="lab", slots=4096)
    ring.trace_gc()
    take_place(setup, [setup["CPU"]])
    stop = loop.create_future()
    await loop.create_server(lambda: Service(setup, ring, worker, causes, stop), sock=socket.socket(fileno=LISTENER))
    await stop
    ring.close()


asyncio.run(serve(json.loads(sys.stdin.readline())))
