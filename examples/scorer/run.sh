#!/usr/bin/env bash
# Record the scorer under load and explain its tail: make scorer calls this.
# Environment: REQUESTS, OUT (a folder), PYTHON, TAILTRACE (the binary), and
# SCENARIO: what makes it slow, one of hog, convoy and neighbour; without one
# whatever the machine has to offer.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scenario=${SCENARIO:-}
rows=rows.jsonl
out=${OUT:-$(cd "$here/../.." && pwd)/out/scorer${scenario:+-$scenario}}
# shellcheck source=examples/scorer/lib.sh
. "$here/lib.sh"

check_needs
mapfile -t cpus < <("$python" -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
own=${cpus[-1]} other=${cpus[0]}
requests=${REQUESTS:-20000}
case $scenario in
"") ;;
hog) service_on=(taskset -c "$own") ;;
convoy)
    requests=${REQUESTS:-8000}
    service_args=(--truth "$out/truth.jsonl")
    record_args=(--sample 999 --stacks all)
    client_args=(--path /pooled --connections 16 --rate 250)
    ;;
neighbour)
    [ "$own" != "$other" ] || die "a neighbour needs a second CPU"
    service_on=(taskset -c "$own")
    # A client that makes way for the neighbour would take the service's CPU.
    client_on=(taskset -c "$other")
    service_args=(--embeddings 512)
    record_args=(--sample 999)
    client_args=(--path /recommend)
    explain_args=(--all)
    ;;
*) die "there is no scenario $scenario" "SCENARIO is hog, convoy or neighbour" ;;
esac
mkdir -p "$out"
rm -f "$out"/events.bin "$out"/*.jsonl "$out"/explain.json "$out"/*.txt

start_service
start_recorder
case $scenario in
hog) start_disturber hog "$own" ;;
neighbour) start_disturber memory "$other" --every 1 --burst 0.06 ;;
esac
run_client
stop_disturber
stop_recorder
stop "$service_pid" TERM 5
service_pid=""

"$tailtrace" explain "$out/events.bin" --rows "$out/rows.jsonl" --json "$out/explain.json" "${explain_args[@]}" | tee "$out/explain.txt"
echo
"$tailtrace" burst "$out/events.bin" --rows "$out/rows.jsonl" >"$out/burst.txt"
head -n 30 "$out/burst.txt"
echo
echo "everything is in $out; the rest of the busiest second in burst.txt"
if [ -n "$scenario" ]; then
    echo
    "$python" "$here/check.py" "$scenario" "$out" --require "${REQUIRE:-0.8}"
fi
