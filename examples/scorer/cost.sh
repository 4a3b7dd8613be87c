#!/usr/bin/env bash
# What recording costs the scorer: rounds of the same load without a tracer,
# under tailtrace, and under the peers that are installed, in turn, so that a
# machine whose speed drifts does not favour one. Prints the rounds' latencies
# as ratios to the untraced ones of the same round.
# Environment: ROUNDS, REQUESTS, OUT, PYTHON, TAILTRACE.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requests=${REQUESTS:-3000}
rounds=${ROUNDS:-5}
rows=""
out=${OUT:-$(cd "$here/../.." && pwd)/out/cost}
# shellcheck source=examples/scorer/lib.sh
. "$here/lib.sh"

# start_peer NAME: begins to trace the service with it; its pid in peer_pid.
start_peer() {
    case $1 in
    off) peer_pid="" ; return ;;
    tailtrace) "$tailtrace" -pid "$service_pid" -out "$out/events.bin" --force 2>"$out/peer.log" & ;;
    perf-sched) perf sched record -o "$out/perf.data" >"$out/peer.log" 2>&1 & ;;
    bpftrace) bpftrace -e 'tracepoint:sched:sched_switch { @[args->prev_pid] = nsecs; }
        tracepoint:sched:sched_switch /@[args->next_pid]/ { @off = hist(nsecs - @[args->next_pid]); delete(@[args->next_pid]); }' \
        >"$out/peer.log" 2>&1 & ;;
    offcputime) offcputime -p "$service_pid" 100000 >"$out/peer.log" 2>&1 & ;;
    esac
    peer_pid=$!
    recorder_pid=$peer_pid # cleanup ends it
    sleep 2
}

stop_peer() {
    [ -z "$peer_pid" ] || stop "$peer_pid" INT 20
    wait "$peer_pid" 2>/dev/null || true
    recorder_pid=""
}

mkdir -p "$out"
rm -f "$out"/*.jsonl
check_needs
start_service
arms=(off tailtrace)
for peer in perf:perf-sched bpftrace:bpftrace offcputime:offcputime; do
    ! command -v "${peer%%:*}" >/dev/null || arms+=("${peer#*:}")
done
for round in $(seq "$rounds"); do
    for arm in "${arms[@]}"; do
        start_peer "$arm"
        rows=$arm-$round.jsonl
        run_client >/dev/null
        stop_peer
    done
done
stop "$service_pid" TERM 5
service_pid=""
exec "$python" "$here/cost.py" "$out" "$rounds" "${arms[@]}"
