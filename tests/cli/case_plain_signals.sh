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
# wait_for TEXT: until standard output holds it; ten seconds.
wait_for() {
    tries=0
    until grep -qF -e "$1" "$out"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 100 ]; then
            complain "never said: $1"
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
        sleep 0.5
        kill -s "${signal%:*}" "$pid"
        ended "$((128 + ${signal#*:}))"
        run profile list --json --db "$db"
        expect_exit 0
        expect_json 'one("run")["status"] == "cancelled"'
    done
done

# The default walk too.
status=0
command=' (TERM in the walk)'
timeout --preserve-status -k 10 -s TERM 1 "$LAB_EXE" --iterations 1000000000 \
    --db walk.db >"$out" 2>"$err" </dev/null || status=$?
expect_exit 143
run profile list --json --db walk.db
expect_json 'one("run")["status"] == "cancelled"'
