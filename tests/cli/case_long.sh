# shellcheck shell=sh
# Memory does not grow with the iterations of a run, and the file by no more
# than docs/profiles.md states. Both runs are long enough to fill SQLite's cache.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
case $LAB_BINARY_DIR in
*debug*) exit 77 ;; # a sanitizer keeps what was freed for a while
esac
inline_lesson small
# long ITERATIONS: the most memory of such a run, in KiB, and the file's bytes.
long() {
    "${LAB_PYTHON:-python3}" -c 'import os, resource, subprocess, sys
n = sys.argv[1]
db = f"{n}.db"
subprocess.run([os.environ["LAB_EXE"], "run", "small.md", "--backend", "cpu",
                "--iterations", n, "--db", db], check=True,
               stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
      os.path.getsize(db))' "$1"
}
command=' run small.md'
: >"$err"
short=$(long 200000)
long=$(long 500000)
[ -n "$long" ] || complain 'a run failed'
printf '%s\n' "200,000 iterations: $short" "500,000 iterations: $long" >"$out"
[ $((${long% *} - ${short% *})) -lt 2048 ] ||
    complain 'memory grows with the iterations'
[ $((${long#* } - ${short#* })) -lt $((300000 * 120)) ] ||
    complain 'the file grows by more than 120 bytes an iteration'
cat "$out"
