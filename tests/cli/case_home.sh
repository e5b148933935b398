# shellcheck shell=sh
# The home screen of the program itself, on a terminal, with its own models.
# screens NAME <<END plays a script of keys.
screens() {
    cat >"$work/$1.keys"
    command=" (the keys of $1)"
    status=0
    LAPENNA_LAB_SCRIPT=$work/$1.keys TERM=xterm LINES=24 COLUMNS=80 \
        "${LAB_PYTHON:-python3}" -c '
import pty, sys
status = pty.spawn(sys.argv[1:])
sys.exit(status >> 8 or status)' "$LAB_EXE" --backend cpu \
        >"$out" 2>"$err" </dev/null || status=$?
    expect_exit 0
    tr -d '\033' <"$out" >"$out.text" && mv "$out.text" "$out"
}
# The lesson that README calls the one to start with is chosen, and marked.
sed -n 's/^| \([a-z-]*\) |.*; start here |$/\1/p' "$LAB_CLI_DIR/../../README.md" \
    >"$work/start"
[ "$(cat "$work/start")" = mlp-digits ] || complain 'README starts elsewhere'
screens start <<END
expect start here
key R
expect lessons, 0 runs
expect >A network with a hidden
absent About, builds on
key Down
expect About, builds on mlp-digits
key q
END
exits 0 run activations --iterations 2 --backend cpu
screens doctor <<END
expect Last runs
expect P has runs recorded on GPUs
key R
expect lessons, 1 run
absent 1 runs
key d
await 60000 variants (cpu)
key q
expect Last runs
key q
END
screens no_roof <<END
key r Enter R
expect No roof is known
key q
END
exits 0 profile ceilings --backend cpu
screens roofline <<END
key r Enter R
expect Roofline of
expect FLOP/byte
expect copy
absent No roof is known
key v
expect Kernels
key q
expect Steps
END
screens all <<END
key r
expect activations
key Enter
expect Steps
key q q Enter
await 60000 next: fc1.matmul
key s
await 60000 next: fc1.bias
key O
expect occupancy is of a GPU
expect home, key P
enter :list tensors
expect fc1.W.grad
key q ?
expect Help (
key q q q
END

# Two runs side by side, of the database that ships with the program.
screens compare <<END
key P
enter /cnn-codelab
key m n c
expect against run
expect conv1.conv
key v
expect fc2.matmul
key v
expect dense_fused
key v v v v
expect Where the wall time of one iteration goes
expect launch latency
expect between steps
key q q q
END

# Where a lab's kernels and a sweep's rows are.
screens labs <<END
key P
enter /lab-gemm-tensor
key Enter
expect "traced"
key q
enter /products
key Enter
expect This lab has no steps
expect --recorded
expect none: this run has no steps
key q q q
END

# A training is left running, and come back to; meanwhile no other lesson opens,
# and leaving the program asks.
screens background <<END
enter /mlp-digits
key Enter
await 60000 step 0 of
enter :train 50000000
await 60000 samples/s
key q q
expect b leaves it running
key x
expect training ...
key q b
await 60000 trains in the background
key Esc
enter /softmax-regression
key Enter
await 60000 a training runs in the background
key q
expect stop it and leave? (y/n)
key n Esc
enter /mlp-digits
key Enter
await 60000 training ...
key t
await 60000 samples/s
key Esc
await 60000 training stopped after
key q q
await 60000 Last runs
absent trains in the background
key q
END

# A lesson that is left within its first iteration is no run, also behind its loss;
# one that has gone through it is.
for n in 1 8 18; do
    export XDG_STATE_HOME="$work/left$n"
    screens left <<END
key Enter
await 60000 next:
enter :unwatch
enter :step $n
await 60000 step $n of
key q q
END
    run profile list --json
    if [ $n -lt 18 ]; then
        ! grep -q '"mlp-digits"' "$out" || complain "a run of $n steps"
    else
        grep -q '"mlp-digits"' "$out" || complain "no run of $n steps"
    fi
done

# A lesson of one's own that is broken is in sight beside folded chapters.
mkdir -p "$work/data/lapenna-lab/lessons"
printf 'no head\n' >"$work/data/lapenna-lab/lessons/mine.md"
export XDG_DATA_HOME="$work/data"
screens broken <<END
expect mine.md:1
key Home
expect ! broken
key q
END

# Behind the colon home offers what it has; the theme is one of its commands.
screens words <<END
text :
expect theme auto
absent one step on
text t
key Tab
text l
key Tab
expect :theme light
key Enter
expect theme light; for all sessions
text :t 
absent auto
key Esc
text :th 
expect contrast
key Esc
enter :step
expect "step" means nothing on this screen
key ? End
expect theme auto | dark
key q
expect q quit
key q
END
