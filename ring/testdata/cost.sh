#!/bin/sh
# Prints what publishing costs in each language, ns, on this machine as it is
# now: cost.sh [PYTHON...]. Compare the figures of one run only.
set -e
cd "$(dirname "$0")/.."
go test -run '^$' -bench . -benchtime 300ms -count 3 . | grep ns/op
program=$(mktemp)
trap 'rm -f "$program"' EXIT
cc -std=c11 -O2 -pthread -o "$program" c/testdata/cost.c
"$program"
for python in "${@:-python3}"; do
	"$python" python/testdata/cost.py
done
