# shellcheck shell=sh
# A kernel of a lesson that never ends: a budget ends it, Esc and Ctrl-C stop it, and the
# program goes on. The module is a copy in which one kernel jumps to itself.
"$LAB_EXE" doctor 2>/dev/null | grep -q '^simulator  *ok' || finish
module=${LAB_EXE%/bin/*}/lib/lapenna-lab-sim.so
[ -f "$module" ] || finish
mkdir modules
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/endless_kernel.py" "$module" modules/lapenna-lab-sim.so \
    '_ZL?8relu_fwdPfPKfl' || {
    complain 'no kernel was changed'
    finish
}
export LAPENNA_LAB_MODULE_DIR="$work/modules"

exits 1 step mlp-digits --backend sim --budget 1000000 --json
expect_stdout '"check":"budget","kernel":"relu_fwd","launch":1,"file":"kernels/activation/'
expect_stdout 'the launch executes more than 1000000 instructions of warps'
exits 1 run mlp-digits --backend sim --budget 1000000 --iterations 1
expect_stderr 'budget in relu_fwd at kernels/activation/'
exits 2 step mlp-digits --backend cpu --budget 1000000
expect_stderr '--budget needs --backend sim'

# A signal ends it at once, and where it was is printed.
"$LAB_EXE" step mlp-digits --backend sim --budget 0 >"$out" 2>"$err" &
pid=$!
until grep -q 'fc1.out' "$out" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -INT $pid # it is in the next step, or will be
wait $pid
status=$?
command=' step, interrupted'
expect_exit 130

# Esc stops the step, then the launch that the kernel's screen lets go; the walk goes on.
play mlp-digits --backend sim --budget 0 <<'KEYS'
resize 140 40
await 60000 next: fc1.matmul
key s
await 60000 next: fc1.bias
key s
await 60000 next: relu1
key s
await 60000 running, Esc stops it: relu_fwd
expect instructions of warps
key Esc
await 60000 budget in relu_fwd at
expect was stopped here, after
key Esc
await 60000 next: relu1
key i
await 60000 before its first instruction
key c
await 60000 Esc stops it
key Esc
await 60000 stopped here; c goes on
key q
await 60000 running, Esc stops it: relu_fwd
key Esc
await 60000 budget in relu_fwd at
key Enter
await 60000 Esc stops it
key Esc
await 60000 stopped
key q
await 60000 running, Esc stops it: relu_fwd
key Esc
await 60000 budget in relu_fwd at
key Esc r
await 60000 next: fc1.bias
key s
await 60000 next: relu1
key q
KEYS
expect_no_stderr

# In lines of text, too.
printf 'step 2\nstep\nback\n' |
    "$LAB_EXE" --plain mlp-digits --backend sim --budget 1000000 >"$out" 2>"$err"
status=$?
command=' --plain'
expect_exit 0
expect_stderr 'budget in relu_fwd at kernels/activation/'
