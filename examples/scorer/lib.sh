# What run.sh and cost.sh share: the service, the recorder and the client as
# children that never outlive the script. Source it; set out and requests.
# shellcheck shell=bash disable=SC2154 # out, requests and rows are the caller's
set -euo pipefail
set -m # so that Ctrl-C comes here first, and children do not ignore SIGINT

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-/usr/bin/python3}
tailtrace=${TAILTRACE:-$root/bin/tailtrace}
export PYTHONDONTWRITEBYTECODE=1 # root leaves no caches in the tree
service_pid=""
recorder_pid=""
client_pid=""
disturber_pid=""
service_on=() # a command before the service's
client_on=() # and before the client's
service_args=()
record_args=()
client_args=()
explain_args=()

die() {
    echo "$(basename "$0"): error: $1" >&2
    [ $# -lt 2 ] || echo "hint: $2" >&2
    exit 1
}

# stop PID SIGNAL SECONDS: ask it to end, then make it.
stop() {
    kill -s "$2" "$1" 2>/dev/null || return 0
    for _ in $(seq "$(($3 * 10))"); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -s KILL "$1" 2>/dev/null || true
}

cleanup() {
    status=$?
    trap - EXIT INT TERM
    [ -z "$client_pid" ] || stop "$client_pid" TERM 5
    [ -z "$disturber_pid" ] || stop "$disturber_pid" TERM 5
    [ -z "$recorder_pid" ] || stop "$recorder_pid" INT 10
    [ -z "$service_pid" ] || stop "$service_pid" TERM 5
    # What root leaves in a user's tree belongs to that user.
    [ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-}" "$out" 2>/dev/null || true
    exit "$status"
}

# wait_for SECONDS PID LOG COMMAND...: until COMMAND succeeds; PID must live.
wait_for() {
    local tries=$(($1 * 10)) pid=$2 log=$3
    shift 3
    for _ in $(seq "$tries"); do
        ! "$@" || return 0
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    cat "$log" >&2
    return 1
}

check_needs() {
    [ "$(id -u)" = 0 ] || die "recording needs root" "sudo make scorer"
    [[ -f $tailtrace && -x $tailtrace ]] || die "there is no $tailtrace" "make"
    command -v pgrep >/dev/null || die "pgrep is not there" "apt-get install procps"
    local missing
    missing=$("$python" -c 'import fastapi, uvicorn, uvloop, httptools, sklearn' 2>&1) ||
        die "$python cannot run the scorer: ${missing##*$'\n'}" \
            "apt-get install python3-fastapi python3-uvicorn python3-uvloop python3-httptools python3-sklearn"
    ! pgrep scorer >/dev/null || die "a process named scorer is running already: $(pgrep scorer | xargs)"
}

start_service() {
    rm -f "$out/service.log" # its "ready" would be taken for this one's
    "${service_on[@]}" "$python" "$here/service.py" --dir "$out" "${service_args[@]}" >"$out/service.log" 2>&1 &
    service_pid=$!
    wait_for 120 "$service_pid" "$out/service.log" grep -qs '^ready ' "$out/service.log" ||
        die "the service did not start"
    port=$(sed -n 's/^ready .*port=//p' "$out/service.log")
    [ "$(pgrep scorer)" = "$service_pid" ] || die "pgrep scorer finds $(pgrep scorer | xargs), not $service_pid"
}

start_recorder() {
    "$tailtrace" -pid $(pgrep scorer) -out "$out/events.bin" "${record_args[@]}" 2>"$out/record.log" &
    recorder_pid=$!
    wait_for 30 "$recorder_pid" "$out/record.log" test -s "$out/events.bin" ||
        die "the recording did not start"
}

# run_client: sends $requests requests and leaves $rows in $out.
run_client() {
    # In the background, because a trap waits for what is in the foreground.
    "${client_on[@]}" "$python" "$here/client.py" --port "$port" --requests "$requests" --rows "$out/$rows" "${client_args[@]}" &
    client_pid=$!
    wait "$client_pid" || die "the client ended with status $?"
    client_pid=""
}

# start_disturber WHAT CPU ARGUMENTS...: bursts on a CPU, written to truth.jsonl.
start_disturber() {
    "$python" "$here/disturb.py" "$1" --cpu "$2" --truth "$out/truth.jsonl" "${@:3}" >"$out/disturb.log" 2>&1 &
    disturber_pid=$!
    wait_for 30 "$disturber_pid" "$out/disturb.log" grep -qs '^ready' "$out/disturb.log" ||
        die "the disturber did not start"
}

stop_disturber() {
    [ -z "$disturber_pid" ] || stop "$disturber_pid" TERM 5
    disturber_pid=""
}

stop_recorder() {
    kill -s INT "$recorder_pid" 2>/dev/null || true
    wait "$recorder_pid" || die "the recording ended with status $?: $(cat "$out/record.log")"
    recorder_pid=""
    cat "$out/record.log"
}

trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
