#!/usr/bin/python3
"""Load for the scorer: one request at a time over one connection, or over each of several.

Whatever could disturb a measurement is done before the first request or after
the last: requests are built, rows have their memory, the collector is off.
"""

import argparse
import gc
import itertools
import json
import random
import re
import socket
import struct
import sys
import threading
import time

FIRST_ID = 1_000_001
CUSTOMERS = 20_000
SEED = 11
NO_STATUS = 0

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


def popular_customers(n, rng):
    """Draw n customers of which few are asked for often (Zipf, exponent 1)."""
    weights = itertools.accumulate(1 / rank for rank in range(1, CUSTOMERS + 1))
    by_rank = rng.sample(range(CUSTOMERS), CUSTOMERS)
    return rng.choices(by_rank, cum_weights=list(weights), k=n)


def build(host, path, request_id, customer, rng):
    sent = [round(rng.gauss(0, 1), 4) for _ in range(4)]
    body = json.dumps({"customer": customer, "sent": sent}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nX-Request-Id: {request_id}\r\n\r\n"
    )
    return head.encode() + body


def connect(address, timeout):
    sock = socket.create_connection(address, timeout)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A timeout of Python's own would cost a poll before every receive.
    sock.settimeout(None)
    seconds, fraction = divmod(timeout, 1)
    sock.setsockopt(
        socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(seconds), int(fraction * 1e6))
    )
    return sock


def exchange(sock, request):
    """Send one request; return (sent, received, status)."""
    data = b""
    begin = time.monotonic_ns()
    sock.sendall(request)
    while True:
        more = sock.recv(65536)
        end = time.monotonic_ns()
        if not more:
            raise ConnectionError("the service closed the connection")
        data += more
        head, found, body = data.partition(b"\r\n\r\n")
        if not found:
            continue
        length = LENGTH.search(head + b"\r\n")
        if length is None:
            raise ConnectionError("an answer without a content-length")
        if len(body) >= int(length[1]):
            return begin, end, int(head[9:12])


class Load:
    def __init__(self, args):
        self.args = args
        self.address = ("127.0.0.1", args.port)
        self.count = args.warmup + args.requests
        rng = random.Random(SEED)
        self.customers = popular_customers(self.count, rng)
        self.requests = [
            build(f"127.0.0.1:{args.port}", args.path, FIRST_ID + i, customer, rng)
            for i, customer in enumerate(self.customers)
        ]
        self.intended = [0] * self.count
        self.sent = [0] * self.count
        self.received = [0] * self.count
        self.status = [NO_STATUS] * self.count
        self.error = [""] * self.count

    def run(self):
        first = connect(self.address, self.args.timeout)
        others = [connect(self.address, self.args.timeout) for _ in range(self.args.connections - 1)]
        turns = iter(range(self.count))  # whoever is free takes the next
        gc.collect()
        gc.disable()
        gc.freeze()
        start = time.monotonic_ns()
        threads = [threading.Thread(target=self.send, args=(sock, turns, start)) for sock in others]
        for thread in threads:
            thread.start()
        self.send(first, turns, start)
        for thread in threads:
            thread.join()
        gc.enable()

    def send(self, sock, turns, start):
        """Send requests over one connection for as long as there are turns."""
        for i in turns:
            if self.args.rate:
                self.intended[i] = start + int(i * 1e9 / self.args.rate)
                self.wait_until(self.intended[i])
            self.sent[i] = time.monotonic_ns()
            try:
                self.sent[i], self.received[i], self.status[i] = exchange(sock, self.requests[i])
            except OSError as problem:
                self.received[i] = time.monotonic_ns()
                timed_out = isinstance(problem, BlockingIOError)
                self.error[i] = "timeout" if timed_out else str(problem)
                # Its answer must not be taken for the next one's.
                sock.close()
                sock = connect(self.address, self.args.timeout)
        sock.close()

    def wait_until(self, when):
        # A thread that spins would keep the others from running.
        spin = 100_000 if self.args.connections == 1 else 0
        ahead = when - time.monotonic_ns()
        if ahead > 2 * spin:
            time.sleep((ahead - spin) / 1e9)
        while time.monotonic_ns() < when:
            pass

    def columns(self):
        """Return the rows as one list a field."""
        warmup = self.args.warmup
        origin = self.sent[min(warmup, self.count - 1)]
        columns = {
            "id": [FIRST_ID + i for i in range(self.count)],
            "send_ns": self.sent,
            "recv_ns": self.received,
            "status": self.status,
            "error": self.error,
            "warmup": [i < warmup for i in range(self.count)],
            "run": [self.args.run] * self.count,
            "customer": self.customers,
            "second": [max(0, sent - origin) // 1_000_000_000 for sent in self.sent],
        }
        if self.args.rate:
            columns["intended_ns"] = self.intended
        return columns


def save_jsonl(path, columns):
    with open(path, "w", encoding="utf-8") as out:
        for values in zip(*columns.values()):
            out.write(json.dumps(dict(zip(columns, values))) + "\n")


def save_npz(path, columns):
    import numpy

    numpy.savez(path, **{name: numpy.array(values) for name, values in columns.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True, help="of the service on 127.0.0.1")
    parser.add_argument("--rows", required=True, help="file for the rows, JSON lines")
    parser.add_argument("--npz", help="file for the same rows as NumPy arrays")
    parser.add_argument("--path", default="/score", help="the endpoint (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=1, help="requests under way at once, at most (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=20_000, help="measured requests (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=500, help="requests ahead of them (default: %(default)s)")
    parser.add_argument("--rate", type=float, help="requests a second (default: as fast as they are answered)")
    parser.add_argument("--run", default="run1", help="name of the run (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=5, help="seconds for an answer (default: %(default)s)")
    args = parser.parse_args()
    if args.requests < 1 or args.warmup < 0 or args.timeout <= 0 or (args.rate or 1) <= 0 or args.connections < 1:
        parser.error("requests, rate, timeout and connections must be positive")

    load = Load(args)
    load.run()
    columns = load.columns()
    save_jsonl(args.rows, columns)
    if args.npz:
        save_npz(args.npz, columns)
    failed = sum(status != 200 for status in load.status)
    print(f"{load.count} requests, {args.warmup} of them warm-up, {failed} failed", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except OSError as problem:
        sys.exit(f"client: {problem}")
