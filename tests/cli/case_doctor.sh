# shellcheck shell=sh
# doctor: every part has a line; what is missing has its remedy, and is no
# error.
modules=$work/none
for hidden in no yes; do
    if [ "$hidden" = yes ]; then
        export LAPENNA_LAB_MODULE_DIR="$modules"
    fi
    exits 0 doctor
    expect_no_stderr
    expect_no_escape
    for part in program lessons CPU OpenBLAS oneDNN 'CUDA module' driver \
        device cuBLAS cuDNN CUPTI NVTX 'hardware counters' terminal pictures database; do
        expect_stdout "$part"
    done
    exits 0 doctor --json
    expect_no_stderr
    expect_json 'len(of("check")) == len(rows) >= 15' \
        'all(set(r) == {"type", "name", "status", "detail", "remedy"}
         for r in rows)' \
        'all(r["status"] in ("ok", "missing", "warning") for r in rows)' \
        'all(r["detail"] for r in rows)' \
        'all(r["remedy"] for r in rows if r["status"] != "ok")' \
        'all(r["remedy"] is None for r in rows if r["status"] == "ok")' \
        'all(r["status"] == "ok" for r in rows
         if r["name"] in ("program", "lessons", "CPU", "OpenBLAS"))' \
        'any(r["name"].startswith("variants") and r["status"] == "ok"
         for r in rows)'
done
expect_json 'all(r["status"] == "missing" for r in rows
    if r["name"] in ("CUDA module", "oneDNN", "device"))' \
    'all("/none" in r["detail"] for r in rows if r["name"] == "CUDA module")'
[ ! -e "$XDG_STATE_HOME/lapenna-lab" ] || complain "doctor wrote something"

# OpenBLAS is loaded at run time. A library of its name that lacks its functions is
# passed over: the build's own is taken.
mkdir planted
other=$(ldd "$LAB_EXE" | sed -n 's/.*libmd4c.* => \(.*\) (.*/\1/p')
cp "$other" planted/libopenblas.so.0
LD_LIBRARY_PATH="$work/planted" exits 0 doctor --json
expect_json '[r["status"] for r in rows if r["name"] == "OpenBLAS"] == ["ok"]'

# One that does not know this processor is loaded again, with the kernels that fit; not
# where the user has named kernels.
unset OPENBLAS_CORETYPE
exits 0 doctor --json
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
    expect_json 'all("DYNAMIC_ARCH" not in r["detail"] or
        not {"Prescott", "Barcelona"} & set(r["detail"].split())
        for r in rows if r["name"] == "OpenBLAS")'
fi
OPENBLAS_CORETYPE=Prescott exits 0 doctor --json
expect_json 'all("Prescott" in r["detail"] or "DYNAMIC_ARCH" not in r["detail"]
    for r in rows if r["name"] == "OpenBLAS")'

# Without it, here in a copy of the program that asks for other names, its variants
# are not offered, and every step has one that runs.
mkdir -p apart/bin
ln -s "$(dirname "$LAB_EXE")/../share" apart/share
python3 - "$LAB_EXE" apart/bin/lapenna-lab <<'END'
import sys
program = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(program.replace(b"libopenblas.so", b"libopenblaz.so"))
END
chmod +x apart/bin/lapenna-lab
real=$LAB_EXE
LAB_EXE=$work/apart/bin/lapenna-lab
exits 0 doctor --json
expect_json '[r["status"] for r in rows if r["name"] == "OpenBLAS"] ==
    ["missing"]'
exits 0 step mlp-digits --json --backend cpu --db none.db
expect_no_stderr
expect_json 'all(r["variant"] != "blas" for r in of("step"))'
exits 2 step mlp-digits --backend cpu --db none.db --variant fc1=blas
exits 0 lab dot --backend cpu --size 1000 --db none.db
expect_stdout plain
if grep -q openblas "$out"; then
    complain "a lab measures OpenBLAS, which is not there"
fi
LAB_EXE=$real

# The database: none yet, one with runs, one that is none, a place without
# rights.
inline_lesson small
run doctor --json --db new.db
expect_json 'rows[-1]["name"] == "database" and rows[-1]["status"] == "ok"'
[ ! -e new.db ] || complain "doctor made a database"
run run small.md --iterations 1 --db new.db
run doctor --db new.db
expect_stdout '1 run, writable'
expect_stdout 'none measured yet; '
run profile ceilings --backend cpu --db new.db
run doctor --json --db new.db
expect_json 'any("copy" in r["detail"] and "B/s (measured)" in r["detail"]
    for r in rows if r["name"] == "ceilings")'
# On the screen each op's variants are beside that, or below, and how often each
# was the fastest.
play --backend cpu --db new.db <<'END'
resize 200 60
await 60000 Last runs
key d
await 60000 Variants on cpu
expect database
expect dense
absent (9): the fastest
quit
END
unset LAPENNA_LAB_TUNE
run run mlp-digits --iterations 2 --backend cpu --db new.db
play --backend cpu --db new.db <<'END'
resize 200 60
await 60000 Last runs
key d
await 60000 (9): the fastest of this op
expect naive (
quit
END
echo 'no database' >text.db
cp text.db before
exits 0 doctor --json --db text.db
expect_json 'rows[-1]["status"] == "warning" and "text.db" in rows[-1]["detail"]'
cmp -s text.db before || complain "the file was changed"
exits 0 doctor --json --db text.db/x.db
expect_json 'rows[-1]["status"] == "warning"'

export LAPENNA_LAB_DATA_DIR="$work/none"
exits 0 doctor --json
expect_json '[r["status"] for r in rows if r["name"] == "lessons"] ==
    ["missing"]'
unset LAPENNA_LAB_DATA_DIR
# The terminal has the colours that the screens would use: --color decides, except
# where TERM itself is of a terminal with direct colour.
cat >direct.src <<'END'
lab-direct|xterm with direct colour, RGB, colors#0x1000000, use=xterm,
END
while read -r term color colours; do
    if [ "$term" = lab-direct ] && ! tic -x -o terminfo direct.src 2>tic.txt; then
        continue
    fi
    "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$(command -v env)" "TERM=$term" \
        COLORTERM=truecolor "TERMINFO_DIRS=$PWD/terminfo:" \
        "$LAB_EXE" doctor --json --color "$color" >terminal.txt </dev/null
    grep '"terminal"' terminal.txt | grep -q ", $colours colours, " ||
        complain "TERM=$term --color $color: $(grep '"terminal"' terminal.txt)"
done <<'END'
xterm-256color auto 16777216
xterm-256color 256 256
lab-direct 256 16777216
xterm auto 8
END
exits 2 doctor mlp-digits
exits 2 doctor --no-such-option

# --help lists what means something here; what is not is refused (case_usage.sh).
exits 0 doctor --help
expect_stdout --db
expect_stdout --json
for word in --epochs --variant --batch --seed --no-mouse; do
    if grep -q -e "$word" "$out"; then
        complain "doctor --help lists $word"
    fi
done
exits 0 doctor --threads 3 --db "$work/runs.db"
expect_stdout "3 threads"
exits 2 doctor --backend cpu --db "$work/runs.db"
