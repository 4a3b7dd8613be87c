"""An endpoint that lives in memory: it recommends items by their embeddings.

The tables are far larger than the caches, and nearly every step reads rows of
them that no other request has just read. So it is as fast as memory is, which
it shares with whoever else is on the machine.
"""

import json
import mmap

import fastapi
import numpy
import pydantic

import prepare
import tailtrace_ring

WIDTH = 64  # numbers of an item: 256 bytes
HISTORY = 1000  # items that a customer has looked at
RECENT = 250  # of them, the last
RELATED = 8  # items that go with an item
ANSWER = 10
SEED = 13


class Query(pydantic.BaseModel):
    customer: int = pydantic.Field(ge=0, lt=prepare.CUSTOMERS)


class Embeddings:
    """Items and what customers have looked at, synthetic, from a fixed seed."""

    def __init__(self, megabytes):
        rng = numpy.random.default_rng(SEED)
        items = (megabytes << 20) // (4 * WIDTH)
        self.items = table((items, WIDTH), numpy.float32)
        rng.random(out=self.items, dtype=numpy.float32)
        self.items -= 0.5
        self.related = table((items, RELATED), numpy.int32)
        self.related[:] = rng.integers(items, size=self.related.shape, dtype=numpy.int32)
        self.histories = table((prepare.CUSTOMERS, HISTORY), numpy.int32)
        self.histories[:] = rng.integers(items, size=self.histories.shape, dtype=numpy.int32)


def table(shape, dtype):
    """Make an array on huge pages, where there are any."""
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return numpy.frombuffer(memory, dtype).reshape(shape)


def endpoint(embeddings):
    """Make the handler."""

    async def recommend(request: fastapi.Request):
        window = tailtrace_ring.current()
        body = await request.body()
        window.mark("read")

        try:
            query = Query.parse_raw(body)
        except pydantic.ValidationError as problem:
            raise fastapi.HTTPException(422, problem.errors())
        window.mark("validate")

        history = embeddings.histories[query.customer]
        profile = embeddings.items.take(history, axis=0).mean(axis=0)
        window.mark("profile")

        candidates = embeddings.related.take(history[-RECENT:], axis=0).ravel()
        window.mark("candidates")

        scores = embeddings.items.take(candidates, axis=0) @ profile
        window.mark("rank")

        best = candidates[numpy.argpartition(scores, -ANSWER)[-ANSWER:]]
        response = fastapi.Response(json.dumps({"items": best.tolist()}), media_type="application/json")
        window.mark("serialize")
        return response

    return recommend
