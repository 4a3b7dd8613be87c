"""The scorer's endpoint as many have it: a plain `def`, which FastAPI runs on a
pool of threads, with a cache in front of the table.

The cache has one lock for all of it, and loads what it misses with the lock in
its hand, neighbours too, each by a query that no index helps. Nearly every request
finds its customer, so nobody sees it: until one does not, and all others wait
for its queries.
"""

import contextlib
import json
import random
import sqlite3
import threading
import time

import fastapi
import numpy
import pydantic

import prepare
import tailtrace_ring

MISS = 0.004  # share of requests whose customer has just been thrown out
PAGE = 12  # customers that are loaded together
SEED = 5


class Query(pydantic.BaseModel):
    customer: int = pydantic.Field(ge=0)
    sent: pydantic.conlist(float, min_items=prepare.SENT, max_items=prepare.SENT)


class Cache:
    """The features of all customers, of which some at random are to be loaded again."""

    def __init__(self, table):
        self.lock = threading.Lock()
        self.rng = random.Random(SEED)
        self.truth = []
        self.db = sqlite3.connect(f"file:{table}?mode=ro", uri=True, check_same_thread=False)
        self.db.execute("PRAGMA cache_size = -16000")  # KiB: all of the table
        columns = ", ".join(prepare.COLUMNS)
        self.rows = {customer: row for customer, *row in self.db.execute(f"SELECT customer, {columns} FROM features")}
        # A number that is compared as text: no index is of use.
        self.select = f"SELECT {columns} FROM features WHERE CAST(customer AS TEXT) = ?"

    def get(self, customer, request_id):
        begin = time.monotonic_ns()
        with self.lock:
            self.keep("wait", request_id, begin)
            if customer in self.rows and self.rng.random() < MISS:
                self.load(customer, request_id)
            return self.rows.get(customer)

    def load(self, customer, request_id):
        begin = time.monotonic_ns()
        page = customer - customer % PAGE
        for neighbour in range(page, page + PAGE):
            for row in self.db.execute(self.select, (str(neighbour),)):
                self.rows[neighbour] = row
        self.keep("miss", request_id, begin)

    def keep(self, what, request_id, begin):
        """Keep what took longer than a millisecond."""
        end = time.monotonic_ns()
        if end - begin > 1_000_000:
            self.truth.append((what, request_id, threading.get_native_id(), begin, end))

    def save(self, path):
        with open(path, "w", encoding="utf-8") as out:
            for row in self.truth:
                out.write(json.dumps(dict(zip(("what", "id", "tid", "begin_ns", "end_ns"), row))) + "\n")


def endpoint(cache, model):
    """Make the handler."""

    def score(query: Query, x_request_id: int = fastapi.Header(0)):
        with here(tailtrace_ring.current()) as window:
            window.mark("receive")
            stored = cache.get(query.customer, x_request_id)
            if stored is None:
                raise fastapi.HTTPException(404, f"no customer {query.customer}")
            window.mark("lookup")
            features = numpy.array([[*stored, *query.sent]])
            window.mark("build")
            score = model.predict_proba(features)[0, 1]
            window.mark("predict")
            return {"score": float(score)}

    return score


@contextlib.contextmanager
def here(window):
    """Tell the window that its request is in this thread now, and then back in the event loop's."""
    window.thread()
    window.resume()
    try:
        yield window
    finally:
        window.suspend()
        window.thread(threading.main_thread().native_id)
