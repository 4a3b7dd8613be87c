#!/usr/bin/env bash
# Record the scorer under load and explain its tail: make scorer calls this.
# Environment: REQUESTS, OUT (a folder), PYTHON, TAILTRACE (the binary).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requests=${REQUESTS:-20000}
rows=rows.jsonl
out=${OUT:-$(cd "$here/../.." && pwd)/out/scorer}
# shellcheck source=examples/scorer/lib.sh
. "$here/lib.sh"

check_needs
mkdir -p "$out"
rm -f "$out"/events.bin "$out"/rows.jsonl "$out"/explain.json "$out"/*.txt

start_service
start_recorder
run_client
stop_recorder
stop "$service_pid" TERM 5
service_pid=""

"$tailtrace" explain "$out/events.bin" --rows "$out/rows.jsonl" --json "$out/explain.json" | tee "$out/explain.txt"
echo
"$tailtrace" burst "$out/events.bin" --rows "$out/rows.jsonl" >"$out/burst.txt"
head -n 30 "$out/burst.txt"
echo
echo "everything is in $out; the rest of the busiest second in burst.txt"
