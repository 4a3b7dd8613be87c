#!/usr/bin/python3
"""A small model-scoring service that tells tailtrace about each request.

POST /score with {"customer": 17, "sent": [0.1, 0.2, 0.3, 0.4]} answers with
{"score": 0.42}. The header x-request-id, a number, names the request. POST
/pooled does the same on a pool of threads, see pooled.py. POST /recommend, where
there are --embeddings, is in recommend.py.
"""

import os

# One thread does all the work; this must be said before NumPy is loaded.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import ctypes
import json
import pathlib
import socket
import sqlite3
import sys

import fastapi
import joblib
import numpy
import pydantic
import uvicorn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "ring" / "python"))
import pooled
import prepare
import recommend
import tailtrace_ring


class Query(pydantic.BaseModel):
    customer: int = pydantic.Field(ge=0)
    sent: pydantic.conlist(float, min_items=prepare.SENT, max_items=prepare.SENT)


class Scorer:
    def __init__(self, directory):
        model, table = prepare.ensure(directory)
        self.model = joblib.load(model)
        self.table = table
        self.db = sqlite3.connect(f"file:{table}?mode=ro", uri=True)
        self.select = f"SELECT {', '.join(prepare.COLUMNS)} FROM features WHERE customer = ?"

    async def score(self, request: fastapi.Request):
        window = tailtrace_ring.current()
        body = await request.body()
        window.mark("read")

        try:
            query = Query.parse_raw(body)
        except pydantic.ValidationError as problem:
            raise fastapi.HTTPException(422, problem.errors())
        window.mark("validate")

        stored = self.db.execute(self.select, (query.customer,)).fetchone()
        if stored is None:
            raise fastapi.HTTPException(404, f"no customer {query.customer}")
        window.mark("lookup")

        features = numpy.array([stored + tuple(query.sent)])
        window.mark("build")

        score = self.model.predict_proba(features)[0, 1]
        window.mark("predict")

        answer = json.dumps({"score": float(score)})
        response = fastapi.Response(answer, media_type="application/json")
        window.mark("serialize")
        return response


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        if self.started:
            port = sockets[0].getsockname()[1]
            print(f"ready pid={os.getpid()} port={port}", flush=True)


def name_process(name):
    """Set the name that pgrep and ps look at: that of the main thread."""
    PR_SET_NAME = 15
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NAME)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", required=True, help="where model and table are, or will be")
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1 (default: any free one)")
    parser.add_argument("--truth", help="file for the misses and waits of the cache of /pooled, JSON lines, at the end")
    parser.add_argument("--embeddings", type=int, default=0, help="MiB of items for /recommend (default: none, and no /recommend)")
    args = parser.parse_args()

    scorer = Scorer(args.dir)
    cache = pooled.Cache(scorer.table)
    app = fastapi.FastAPI()
    app.add_api_route("/score", scorer.score, methods=["POST"])
    app.add_api_route("/pooled", pooled.endpoint(cache, scorer.model), methods=["POST"])
    if args.embeddings > 0:
        app.add_api_route("/recommend", recommend.endpoint(recommend.Embeddings(args.embeddings)), methods=["POST"])

    ring = tailtrace_ring.open(service="scorer", slots=8192)
    ring.trace_gc()

    listener = socket.create_server(("127.0.0.1", args.port))
    name_process("scorer")
    Server(
        uvicorn.Config(
            ring.asgi(app, id_header="x-request-id"),
            loop="uvloop",
            http="httptools",
            lifespan="off",
            access_log=False,
            log_level="warning",
        )
    ).run(sockets=[listener])
    if args.truth:
        cache.save(args.truth)


if __name__ == "__main__":
    main()
