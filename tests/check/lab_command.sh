#!/bin/sh
# lab_command.sh ROOT -- ./lab itself, on a project of one file in a path with
# spaces, with a stand-in for apt-get, sudo and pkg-config where it would
# install.
set -eu
exec 9>&- # of the caller: the program looks whether ./lab's lock is open
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/a tree/lapenna lab"
fakes="$work/fakes"
mkdir -p "$tree/src" "$fakes"
cp "$1/lab" "$tree/lab"
unset LAB_BUILD_DIR CUDACXX CUDA_HOME CUDA_PATH CUDAARCHS CI
export LAB_CUDA=OFF LAB_JOBS=2
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(small C)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(lapenna-lab src/main.c)
string(REPLACE ";" " " gpus "${CMAKE_CUDA_ARCHITECTURES}")
target_compile_definitions(lapenna-lab PRIVATE "GPUS=\"${gpus}\"")
add_custom_target(program DEPENDS lapenna-lab)
add_custom_target(thread_tests DEPENDS lapenna-lab)
if(LAB_TESTS)
    enable_testing()
    add_test(NAME one${LAB_SUFFIX} COMMAND lapenna-lab)
endif()
END
cat >"$tree/CMakePresets.json" <<'END'
{"version": 3, "configurePresets": [
 {"name": "default", "binaryDir": "${sourceDir}/build/default"},
 {"name": "debug", "binaryDir": "${sourceDir}/build/debug",
  "cacheVariables": {"LAB_SUFFIX": ".asan"}},
 {"name": "tsan", "binaryDir": "${sourceDir}/build/tsan",
  "cacheVariables": {"LAB_SUFFIX": ".tsan", "LAB_TESTS": "ON"}},
 {"name": "fuzz", "binaryDir": "${sourceDir}/build/fuzz",
  "cacheVariables": {"LAB_SUFFIX": ".clang", "LAB_TESTS": "ON"}}]}
END
cat >"$tree/src/main.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    if (fcntl(9, F_GETFD) != -1)
        printf("the lock is still held: ");
    if (getenv("SAY_COMMAND"))
        printf("<%s>", getenv("LAPENNA_LAB_COMMAND"));
    if (getenv("SAY_GPUS"))
        printf("<%s>", GPUS);
    puts(VERSION_WORD);
    return argc > 1 ? atoi(argv[argc - 1]) : 0;
}
END
sed -i 's/VERSION_WORD/"one"/' "$tree/src/main.c"

# What is only useful and not there is never installed by this test.
no_extras() {
    mkdir -p "$1"
    printf '%s\n' ninja-build libdnnl-dev libfreetype-dev \
        fonts-dejavu-core libfontconfig-dev clang-format-14 tmux python3-pyte \
        clang libclang-rt-dev \
        >"$1/extras-tried"
}
no_extras "$tree/build"
no_extras "$work/else where"

fails=0
fail() {
    echo "FAILED: $*"
    echo "--- stdout"; cat "$work/out"
    echo "--- stderr"; cat "$work/err"
    fails=$((fails + 1))
}
# lab_run STATUS ARG...: runs ./lab from elsewhere; out and err are kept.
lab_run() {
    wanted=$1
    shift
    status=0
    (cd / && "$tree/lab" "$@" </dev/null >"$work/out" 2>"$work/err") ||
        status=$?
    [ "$status" -eq "$wanted" ] || fail "lab $*: exit $status, not $wanted"
}
out_is() {
    [ "$(cat "$work/out")" = "$1" ] || fail "stdout is not '$1'"
}
err_has() {
    grep -qF -e "$1" "$work/err" || fail "stderr does not state '$1'"
}
quiet() {
    [ ! -s "$work/err" ] || fail "not quiet with everything up to date"
}

# The first start builds, speaks on stderr only, and passes words through.
lab_run 0 'a b' '' '*' 0
out_is '[a b][][*][0]one'
err_has building
# The next one states nothing, and the exit code is the program's.
lab_run 3 3
out_is '[3]one'
quiet
lab_run 0 build
out_is ''
quiet
# A home that cannot be written, and being called through a link.
ln -s "$tree/lab" "$work/link"
HOME=/nonexistent "$work/link" 0 >"$work/out" 2>"$work/err" || fail link
out_is '[0]one'
quiet

# The program gets the command that people type.
export SAY_COMMAND=1
called() { # DIRECTORY WANTED COMMAND...
    (cd "$1" && shift 2 && "$@" 0 </dev/null) >"$work/out" 2>"$work/err" ||
        fail "lab called as $3"
    out_is "[0]<$2>one"
}
called "$tree" ./lab ./lab
called "$tree/src" ../lab ../lab
called / "$tree/lab" "$tree/lab"
called "$work" './a tree/lapenna lab/lab' 'a tree/lapenna lab/lab'
called "$tree" "$tree/lab" sh lab
PATH=$tree:$PATH called / "$tree/lab" lab
unset SAY_COMMAND

# An edit is built; a mistake in it stops with the compiler's words.
sleep 0.02
sed -i 's/"one"/"two"/' "$tree/src/main.c"
lab_run 0
out_is two
sleep 0.02
sed -i 's/"two"/two/' "$tree/src/main.c"
lab_run 4
out_is ''
err_has "undeclared"
err_has "lab.log"
lab_run 4 build
sed -i 's/two/"three"/' "$tree/src/main.c"
# Many starts at once: one builds, the others wait for it.
pids=
for i in 1 2 3 4; do
    "$tree/lab" 0 </dev/null >"$work/out.$i" 2>"$work/err.$i" &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid" || fail "one of four at once: exit $?"
done
cp "$work/err.1" "$work/err"
for i in 1 2 3 4; do
    cp "$work/out.$i" "$work/out"
    out_is '[0]three'
done
[ "$(cat "$work"/err.? | grep -c 'building')" -eq 1 ] ||
    fail "not exactly one of four built"

# A tree that was moved is configured afresh, not with the old paths.
mv "$tree" "$work/moved tree"
tree="$work/moved tree"
sed -i 's/three/four/' "$tree/src/main.c"
lab_run 0
out_is four
# The GPUs to build for: what was reported last stays, and another word is heard.
export SAY_GPUS=1
lab_run 0
out_is '<>four'
quiet
export CUDAARCHS='75-real;90a-real'
lab_run 0
out_is '<75-real 90a-real>four'
err_has building
lab_run 0
quiet
unset CUDAARCHS
lab_run 0
out_is '<75-real 90a-real>four'
quiet
touch "$tree/src/main.c"
lab_run 0
out_is '<75-real 90a-real>four'
CUDAARCHS=90 lab_run 0
out_is '<90>four'
lab_run 0 clean
lab_run 0
out_is '<>four'
# Without such words: the GPUs that are here, and no module where there is none.
unset LAB_CUDA
for tool in nvcc nvidia-smi; do
    printf '#!/bin/sh\n. "%s/%s.body"\n' "$fakes" "$tool" >"$fakes/$tool"
    chmod +x "$fakes/$tool"
done
# shellcheck disable=SC2016 # for the stand-in
echo 'for n in 75 80 86 90 90a; do echo sm_$n; done' \
    >"$fakes/nvcc.body"
cards() { # COMPUTE_CAPABILITY...
    printf 'printf "%%s\\n" %s\n' "$*" >"$fakes/nvidia-smi.body"
}
old_path=$PATH
export PATH="$fakes:$PATH" CUDACXX="$fakes/nvcc"
echo 'echo "No devices were found"; exit 6' >"$fakes/nvidia-smi.body"
lab_run 0 clean
lab_run 0
out_is '<>four'
err_has 'the CUDA module is left out (LAB_CUDA=ON'
grep -q 'LAB_CUDA:.*=OFF' "$tree/build/default/CMakeCache.txt" ||
    fail "the module is built without a GPU"
lab_run 0
quiet
# A card appears, another one beside it, and one that nvcc does not know.
cards 9.0
lab_run 0
out_is '<90a-real>four'
err_has building
grep -q 'LAB_CUDA:.*=AUTO' "$tree/build/default/CMakeCache.txt" ||
    fail "the module is left out with a GPU"
lab_run 0
quiet
cards 8.6 7.5 8.6
lab_run 0
out_is '<75-real 86-real>four'
# The card is gone: what was built for it stays.
echo 'exit 9' >"$fakes/nvidia-smi.body"
lab_run 0
out_is '<75-real 86-real>four'
quiet
lab_run 0 clean
cards 12.0
lab_run 0
out_is '<>four'
grep -q 'LAB_CUDA:.*=AUTO' "$tree/build/default/CMakeCache.txt" ||
    fail "the module is left out with an unknown GPU"
# Words are stronger than cards.
CUDAARCHS=80 lab_run 0
out_is '<80>four'
lab_run 0 clean
echo 'exit 9' >"$fakes/nvidia-smi.body"
LAB_CUDA=ON lab_run 0
grep -q 'LAB_CUDA:.*=ON' "$tree/build/default/CMakeCache.txt" ||
    fail "LAB_CUDA=ON is not heard"
unset CUDACXX
PATH=$old_path
rm -f "$fakes/nvcc" "$fakes/nvidia-smi"
export LAB_CUDA=OFF
lab_run 0 clean
unset SAY_GPUS

# How far a build is.
sed -n '/^progress()/,/^}/p' "$tree/lab" >"$work/progress.sh"
# shellcheck source=/dev/null
. "$work/progress.sh"
line_is() { # LINE SECONDS WANTED
    [ "$(progress "$1" "$2")" = "$3" ] ||
        fail "progress of '$1': '$(progress "$1" "$2")'"
}
line_is '[312/959] Building C object a.o' 20 \
    'building: 312 of 959, about 41 s left'
line_is '[ 25%] Building C object a.o' 30 \
    'building: 25 of 100, about 90 s left'
line_is '[3/959] Building' 0 'building: 3 of 959'
line_is '[0/2] Re-checking globbed directories...' 5 \
    '[0/2] Re-checking globbed directories...'
line_is '-- Found ZLIB' 5 '-- Found ZLIB'
# LAB_BUILD_DIR, for a tree that is not one's own; and one that cannot be.
export LAB_BUILD_DIR="$work/else where"
lab_run 0
out_is four
[ -x "$work/else where/default/bin/lapenna-lab" ] || fail "not built there"
export LAB_BUILD_DIR=/proc/nowhere
lab_run 4
err_has "cannot write to /proc/nowhere"
unset LAB_BUILD_DIR
lab_run 2 build now

# The tests of all trees are one run; ctest's summary is the last word. Without
# ThreadSanitizer there is one tree less, and without clang's libFuzzer.
if pkg-config --exists cmocka && command -v c++ >/dev/null; then
    trees=2
    if echo 'int main(void) { return 0; }' |
        cc -fsanitize=thread -x c -o "$work/try" - && "$work/try"; then
        trees=3
    fi 2>/dev/null
    if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -fsanitize=fuzzer -x c -o /dev/null -; then
        trees=$((trees + 1))
    fi 2>/dev/null
    lab_run 0 test
    grep -q "100% tests passed, 0 tests failed out of $trees" "$work/out" ||
        fail "no summary of $trees tests"
    cat >"$fakes/cc" <<END
#!/bin/sh
case "\$*" in *-fsanitize=thread*) exit 1 ;; esac
exec $(command -v cc) "\$@"
END
    printf '#!/bin/sh\nexit 1\n' >"$fakes/clang"
    chmod +x "$fakes/cc" "$fakes/clang"
    PATH=$fakes:$PATH lab_run 0 test
    grep -q '100% tests passed, 0 tests failed out of 2' "$work/out" ||
        fail "no summary of two tests without ThreadSanitizer and clang"
    err_has 'going on without ThreadSanitizer'
    err_has "going on without clang's sanitizers"
    rm "$fakes/cc" "$fakes/clang"
    lab_run 0 test -R one.asan
    grep -q 'failed out of 1' "$work/out" || fail "ctest did not get -R"
    sleep 0.02
    sed -i 's/return argc.*/return 1;/' "$tree/src/main.c"
    lab_run 8 test
    tail -n 1 "$work/out" | grep -q . || lab_run 8 test
    sed -i 's/return 1;/return argc > 1 ? atoi(argv[argc - 1]) : 0;/' \
        "$tree/src/main.c"
fi
lab_run 0 clean
[ ! -e "$tree/build/default" ] || fail "clean left build/default"

# Below, a library is missing until the stand-in apt-get has installed it.
for tool in pkg-config apt-get sudo id; do
    printf '#!/bin/sh\n. "%s/%s.body"\n' "$fakes" "$tool" >"$fakes/$tool"
    chmod +x "$fakes/$tool"
done
cat >"$fakes/pkg-config.body" <<END
[ "\$2" != yaml-0.1 ] || [ -e "$work/installed" ]
END
# shellcheck disable=SC2016 # for the stand-in
echo 'echo "$FAKE_UID"' >"$fakes/id.body"
cat >"$fakes/sudo.body" <<END
[ "\$FAKE_SUDO" = yes ] || exit 1
[ "\$1" != -n ] || shift
echo "sudo \$*" >>"$work/calls"
exec "\$@"
END
cat >"$fakes/apt-get.body" <<END
echo "apt-get \$*" >>"$work/calls"
case "\$*" in
*update*) : >"$work/updated" ;;
*)
    [ "\$FAKE_NET" = yes ] && [ -e "$work/updated" ] ||
        { echo "E: Unable to locate package"; exit 100; }
    : >"$work/installed"
    ;;
esac
END
PATH=$fakes:$PATH
export FAKE_UID FAKE_SUDO FAKE_NET

# Neither root nor sudo: the exact command, exit 4, nothing tried.
FAKE_UID=1000 FAKE_SUDO=no FAKE_NET=yes
no_extras "$tree/build"
lab_run 4
out_is ''
err_has 'libyaml-dev: the head of a lesson'
err_has 'apt-get install -y --no-install-recommends libyaml-dev'
[ ! -e "$work/calls" ] || fail "something was tried: $(cat "$work/calls")"

# Root without a network: apt's own error, and the command.
FAKE_UID=0 FAKE_NET=no
lab_run 4
err_has 'Unable to locate package'
err_has 'apt-get update && apt-get install'
rm -f "$work/updated"

# Root: old lists are refreshed after the first failure, then all goes on.
FAKE_NET=yes
lab_run 0
out_is four
err_has 'libyaml-dev'
grep -q 'apt-get .*update' "$work/calls" || fail "no apt-get update"
grep -q 'install -y --no-install-recommends libyaml-dev$' "$work/calls" ||
    fail "not installed by the command that was printed"
lab_run 0
quiet

# sudo that asks for no password.
rm -rf "$tree/build/default" "$work/installed" "$work/calls"
FAKE_UID=1000 FAKE_SUDO=yes
lab_run 0
out_is four
grep -q '^sudo env .*apt-get .*install' "$work/calls" || fail "no sudo"

# Installed, and still not found: an error, not tried for ever.
rm -rf "$tree/build/default" "$work/installed"
FAKE_UID=0
sed -i 's/: >.*installed"/:/' "$fakes/apt-get.body"
lab_run 4
err_has 'still not seen'

# Another system: what is needed, by purpose.
rm "$fakes/apt-get"
mkdir "$work/bin"
for tool in sh readlink sed find cc make cmake mkdir grep env dash flock cat \
    nproc cp rm dpkg-query; do
    path=$(command -v "$tool") && ln -s "$path" "$work/bin/$tool"
done
status=0
PATH="$fakes:$work/bin" "$tree/lab" </dev/null >"$work/out" 2>"$work/err" ||
    status=$?
[ "$status" -eq 4 ] || fail "without apt-get: exit $status"
err_has 'the head of a lesson'
err_has 'not Debian or Ubuntu'
[ "$fails" -eq 0 ]
