# shellcheck shell=sh
# A command that the program tells people to type works when it is pasted: for
# the database that it was called with, whatever that is called.
mkdir bin
ln -s "$LAB_EXE" bin/lapenna-lab
PATH=$work/bin:$PATH
bash=$(command -v bash || echo sh)

# paste FILE BEFORE: runs the command in a line of FILE behind that
# text, up to the last backquote, if there is one.
paste() {
    sed -n "s|.*$2\\(lapenna-lab .*\\)|\\1|p" "$1" | head -n 1 |
        sed "s|\`[^\`]*\$||" >pasted
    command=" (pasted) $(cat pasted)"
    [ -s pasted ] || complain "no command after '$2' in $1"
    status=0
    "$bash" pasted </dev/null >"$out" 2>"$err" || status=$?
}

# shows_run N: what was printed is `profile show` of that run.
shows_run() {
    grep -q "^run  *$1\$" "$out" || complain "it is not run $1 that is shown"
}

lesson lab-small <<'END'
---
format: 1
kind: lab
title: A small lab
lab: saxpy
cpu_sizes: [300]
repeat: 20
---
# Text
END
lesson 'a tune' <<'END'
---
format: 1
kind: lab
title: Tuning
lab: gemm
measures: tune
---
# Text
END
inline_lesson small
odd="anna's \$HOME *.db"

# The run that was recorded.
run run small.md --backend cpu --iterations 2 --db "$odd"
expect_exit 0
expect_stdout "recorded as run 1: lapenna-lab profile show 1 --db 'anna'"
paste "$out" 'as run 1: '
expect_exit 0
shows_run 1
run small.md --plain --backend cpu --db "$odd"
expect_exit 0
paste "$out" 'as run 2: '
expect_exit 0
shows_run 2
run lab lab-small.md --backend cpu --db "$odd"
expect_exit 0
paste "$out" 'as run 3: '
expect_exit 0
expect_stdout 'A small lab'
run lab products small.md --backend cpu --db "$odd"
expect_exit 0
paste "$out" 'as run 4: '
expect_exit 0
expect_stdout 'products'
# The usual place is not named.
run run small.md --backend cpu --iterations 1
expect_stdout 'recorded as run 1: lapenna-lab profile show 1'
paste "$out" 'as run 1: '
expect_exit 0

# Names that a terminal cannot show, or may not be sent.
for db in "$(printf 'a\nb.db')" "$(printf '\377 x.db')" 'Übung.db' '~.db'; do
    for ascii in '' --ascii; do
        # shellcheck disable=SC2086 # nothing, or one option
        run run small.md --backend cpu --iterations 1 $ascii --db "$db"
        expect_exit 0
        [ -z "$ascii" ] || expect_ascii
        paste "$out" 'as run [12]: '
        [ "$bash" = sh ] || expect_exit 0
    done
done

# What helps where something is missing.
run profile show 99 --db "$odd"
expect_exit 3
paste "$err" "; \`"
expect_exit 0
expect_stdout 'small'
run profile show nonsense --db "$odd"
expect_exit 2
paste "$err" "; \`"
expect_exit 0
expect_stdout 'small'
run profile show --db "$odd"
expect_exit 2
paste "$err" "of \`"
expect_exit 0
expect_stdout 'small'
run profile show 9999 --recorded
expect_exit 3
paste "$err" "; \`"
expect_exit 0
expect_stdout 'NVIDIA H200'
run profile baseline --db "$odd"
sed 's/NAME RUN/best 1/' "$err" >baseline
paste baseline "\`"
expect_exit 0
run profile roofline 1 --db "$odd"
paste "$out" "measured: \`"
expect_exit 0
run profile roofline 1 --db "$odd"
grep -q 'No ceiling' "$out" && complain 'the ceilings were kept elsewhere'

# What tuning keeps is found by the lab that asked for it.
run lab gemm --backend cpu --sizes 32 --variants tuned --db "$odd"
expect_exit 0
paste "$out" 'for this size: '
expect_exit 0
run lab gemm --backend cpu --sizes 32 --variants tuned --db "$odd"
expect_exit 0
expect_stdout 'the fastest of'

# The other command for this file.
mv lab-small.md 'a lab.md'
mv small.md 'a lesson.md'
run run 'a lab.md' --backend cpu --db "$odd"
expect_exit 2
expect_stderr "lapenna-lab lab 'a lab.md' --db"
run lab './a lesson.md' --backend cpu --db "$odd"
expect_exit 2
expect_stderr "lapenna-lab run './a lesson.md' --db"
run 'a lesson.md' --backend cpu --db "$odd"
expect_exit 4
paste "$err" "or \`"
expect_exit 0
expect_stdout 'fc1'

# On the screen: a lab that is measured in the shell, and where nothing is yet.
play() { # ARG... ; the script is on standard input
    cat >keys
    command=" $* (on a terminal)"
    status=0
    LAPENNA_LAB_SCRIPT=keys "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" \
        "$LAB_EXE" "$@" >"$out" 2>"$err" </dev/null || status=$?
    expect_exit 0
}
play 'a tune.md' --backend cpu --db "$odd" <<'END'
resize 200 50
key t
await 60000 lapenna-lab lab 'a tune.md' --backend cpu --db 'anna'\''s $HOME *.db'
key q
END
play --backend cpu --db 'no runs.db' <<'END'
resize 200 50
expect lapenna-lab run LESSON --db 'no runs.db'
key r
expect lapenna-lab run LESSON --db 'no runs.db'
key q
key q
END
play --backend cpu --db "$odd" <<'END'
resize 200 50
key r
text /small (lab)
key Enter
key Enter
expect lapenna-lab profile show 4
expect 'anna'\''s
key q
key q
key q
END

# What tuning kept, and cannot be read.
"${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("ALTER TABLE lab_tuned RENAME COLUMN candidate TO other")
d.commit()' "$odd" || complain 'the table could not be changed'
run doctor --db "$odd"
expect_exit 0
expect_stdout "remedy: \`lapenna-lab lab tune gemm --db 'anna'"

# What a run lacks is made in its own database; of those that ship none is.
run profile export 1 --db "$odd" --format csv --table rungs --output -
expect_exit 0
expect_stderr "lapenna-lab lab NAME --db 'anna'"
run profile export 256 --recorded --format csv --table tuned --output -
expect_exit 0
expect_stderr "\`lapenna-lab lab tune NAME\` does that"
run run 'a lesson.md' --backend cpu --iterations 1 --db 'one run.db'
run profile delete 1 --db 'one run.db'
run profile list --db 'one run.db'
expect_exit 0
expect_stderr "lapenna-lab run LESSON --db 'one run.db'\` records one"

# From a clone there is no lapenna-lab on PATH: what `lab` was called is reported.
mkdir 'a clone'
ln -s "$LAB_EXE" 'a clone/lab'
export LAPENNA_LAB_COMMAND="./a clone/lab"
spelt="'./a clone/lab'"
run run 'a lesson.md' --backend cpu --iterations 1 --db "clone's.db"
expect_exit 0
expect_stdout ": $spelt profile show 1 --db"
sed -n "s/.*as run [0-9]*: //p" "$out" >pasted
status=0
"$bash" pasted >"$out" 2>"$err" || status=$?
expect_exit 0
shows_run 1
run profile show 99 --db "clone's.db"
expect_stderr "; \`$spelt profile list --db"
LAPENNA_LAB_COMMAND=./lab
play --backend cpu --db 'no runs.db' <<'END'
resize 200 50
expect "./lab run LESSON --db 'no runs.db'"
key q
END
unset LAPENNA_LAB_COMMAND
