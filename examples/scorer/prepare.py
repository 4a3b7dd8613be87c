#!/usr/bin/python3
"""Make what the scorer serves from: a trained model and a table of features.

Both are synthetic, from a fixed seed, and are made once for a directory.
"""

import argparse
import os
import pathlib
import sqlite3

import joblib
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier

CUSTOMERS = 20_000
STORED = 20  # features of a customer, from the table
SENT = 4  # features of a request, from its body
SEED = 7

COLUMNS = [f"f{i}" for i in range(STORED)]


def ensure(directory):
    """Return the paths of model and table in directory; make what is missing."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    model, table = directory / "model.joblib", directory / "features.sqlite"
    if not (model.exists() and table.exists()):
        x, y = make_classification(
            n_samples=CUSTOMERS, n_features=STORED + SENT, n_informative=12, random_state=SEED
        )
        _complete(model, lambda path: _train(path, x[:3000], y[:3000]))
        _complete(table, lambda path: _fill(path, x[:, :STORED]))
    return model, table


def _train(path, x, y):
    model = GradientBoostingClassifier(n_estimators=150, max_depth=3, random_state=SEED)
    joblib.dump(model.fit(x, y), path)


def _fill(path, features):
    with sqlite3.connect(path) as db:
        db.execute(f"CREATE TABLE features (customer INTEGER PRIMARY KEY, {', '.join(c + ' REAL' for c in COLUMNS)})")
        marks = ", ".join("?" * (STORED + 1))
        rows = ((i, *map(float, row)) for i, row in enumerate(features))
        db.executemany(f"INSERT INTO features VALUES ({marks})", rows)
    db.close()


def _complete(path, make):
    """Have make write path so that it is there whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    make(part)
    part.rename(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", required=True, help="where model and table go")
    for made in ensure(parser.parse_args().dir):
        print(made)
