# shellcheck shell=sh
# --record keeps the keys of a session, --replay plays them with captions.
play --record kept.keys --backend cpu mlp-digits <<'END'
resize 90 30
await 20000 step 0 of
key s
text :goto fc2.bias
key Enter
wait 50
click 3 5
wheel-down 4 4
caption Over the picture
expect Over the picture
caption
absent Over the picture
quit
END
expect_exit 0
grep -v -e '^wait' -e '^#' kept.keys >got
cat >want <<'END'
resize 90 30
key s
key :
key g
key o
key t
key o
key Space
key f
key c
key 2
key .
key b
key i
key a
key s
key Enter
click 3 5
wheel-down 4 4
END
cmp -s got want || complain "recorded: $(cat got)"
grep -q '^wait' kept.keys || complain 'no times'

# A file that is there stays as it is.
cp kept.keys before
play --record kept.keys --backend cpu <<'END'
quit
END
expect_exit 3
cmp -s kept.keys before || complain 'the recording was overwritten'

# Played on a terminal; its size holds, whatever the recording's was.
replay() {
    cat >played.keys
    command=" --replay $* (on a terminal)"
    status=0
    timeout "${RUN_LIMIT:-120}" "${LAB_PYTHON:-python3}" \
        "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" --replay played.keys "$@" \
        >"$out" 2>"$err" </dev/null || status=$?
}
replay --backend cpu mlp-digits <<'END'
resize 200 60
await 20000 step 0 of
caption The first product.
key s
await 20000 step 1 of
quit
END
expect_exit 0
expect_stdout 'The first product.'

# What a recording may not do, and what is none.
replay <<'END'
key s
screen stolen.txt
END
expect_exit 3
expect_stdout 'played.keys:2: a recording that is played writes no files'
[ ! -e stolen.txt ] || complain 'a recording wrote a file'
replay <<'END'
key s
jump up
END
expect_exit 3
expect_stdout 'played.keys:2: "jump up" is not a token'
run --replay nothing.keys mlp-digits
expect_exit 2
run --record new.keys --plain mlp-digits
expect_exit 2
[ ! -e new.keys ] || complain 'a recording without a screen'
