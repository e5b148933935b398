# shellcheck shell=sh
# Signals in plain stepping: INT ends a training and not the program; TERM and
# HUP end the program, and the run stays.
inline_lesson small

# start COMMANDS: a session that keeps waiting for more; sets pid.
start() {
    rm -f feed
    mkfifo feed
    "$LAB_EXE" --plain small.md --backend cpu --db "$db" <feed >"$out" \
        2>"$err" &
    pid=$!
    exec 3>feed
    printf '%b' "$1" >&3
}
# wait_for TEXT: until standard output holds it; a minute at most, for a machine
# that has much else to do.
wait_for() {
    tries=0
    until grep -qF -e "$1" "$out"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ]; then
            complain "never printed: $1"
            return
        fi
        sleep 0.1
    done
}
# wait_for_run: until the database has the run, which begins with a step.
wait_for_run() {
    tries=0
    until "$LAB_EXE" profile list --json --db "$db" 2>/dev/null |
        grep -q '"type":"run"'; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ]; then
            complain "the run never began"
            return
        fi
        sleep 0.1
    done
}
# ended N: the session has ended with that code.
ended() {
    exec 3>&-
    status=0
    wait "$pid" || status=$?
    expect_exit "$1"
}

db=$work/int.db
start 'train 1000000000\n'
command=' --plain (INT while it trains)'
wait_for 'Next: 1.'
wait_for_run
sleep 1
kill -INT "$pid"
wait_for 'training stopped after'
printf 'print loss\nstep\nquit\n' >&3
wait_for 'loss = '
ended 0
expect_no_stderr
run profile list --json --db "$db"
expect_json 'one("run")["status"] == "done"'

for signal in TERM:15 HUP:1; do
    for commands in 'train 1000000000\n' 'step\n'; do
        db=$work/${signal%:*}.db
        rm -f "$db"
        start "$commands"
        command=" --plain ($signal after $commands)"
        wait_for 'Next: 1.'
        wait_for_run
        kill -s "${signal%:*}" "$pid"
        ended "$((128 + ${signal#*:}))"
        exits 0 profile list --json --db "$db"
        expect_json 'one("run")["status"] == "cancelled"'
    done
done

# The default walk too.
command=' (TERM in the walk)'
db=$work/walk.db
"$LAB_EXE" --iterations 1000000000 --db "$db" >"$out" 2>"$err" </dev/null &
pid=$!
wait_for_run
kill -s TERM "$pid"
status=0
wait "$pid" || status=$?
expect_exit 143
run profile list --json --db "$db"
expect_json 'one("run")["status"] == "cancelled"'
