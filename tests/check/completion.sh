#!/usr/bin/env bash
# completion.sh BUILD -- what bash offers after a few beginnings. A program of
# its own stands in for lapenna-lab, so that the lessons and runs are known.
# No -e: compopt fails outside of a real completion.
set -uo pipefail
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/lapenna-lab" <<'END'
#!/bin/sh
case "$*" in
'lesson list --json')
    echo '{"type":"lesson","id":"mlp-digits","kind":"lesson","title":"A"}'
    echo '{"type": "lesson", "id": "softmax", "kind": "lesson"}'
    ;;
'lab --list --json') echo '{"type":"operation","lab":"gemm","title":"C"}' ;;
'profile list --json') echo '{"type":"run","run":17,"lesson":"softmax"}' ;;
*) exit 2 ;;
esac
END
chmod +x "$work/lapenna-lab"
PATH=$work:$PATH
# shellcheck source=/dev/null
source "$build/share/bash-completion/completions/lapenna-lab" || exit 1
cd "$work" || exit 1

bad=0
# offers WANTED WORD...: the last word is the one being typed.
offers() {
    local wanted=$1 got
    shift
    COMP_WORDS=(lapenna-lab "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _lapenna_lab 2>>errors
    got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' ')
    if [[ $got != "$wanted" ]]; then
        echo "lapenna-lab $*: offers '$got', not '$wanted'"
        bad=1
    fi
}

offers '--backend --batch' --ba
offers 'auto cpu cuda sim' --backend ''
offers 'cpu cuda' --backend = c
offers 'fp16 fp32 fp64' --precision fp
offers 'profile' pro
offers 'mlp-digits' ml
offers 'mlp-digits' step ml
offers 'mlp-digits' --batch 4 --backend = cpu run ml
offers 'lint list' lesson li
offers 'softmax' lesson show so
offers '17 last' profile show ''
offers 'last' profile delete la
offers '--db' doctor --d
offers '' doctor --sort
offers '--force --format' profile export 3 --fo
offers '' profile show 3 --fo
offers '--double' lab gflops --do
offers '--device --device-model' run --dev
offers 'h100 h200' sim --device-model h
offers 'blas blocked' --variant fc1 = bl
offers 'dense=' run mlp-digits --variant d
offers 'onednn' lab gemm --variants on
offers 'help' he
offers 'profile' help pr
offers 'lapenna-lab' lesson lint lap
offers 'gemm' lab ge
offers 'gemm' lab tune g
offers 'batch-size' lab batch
offers 'softmax' lab products so
offers 'errors' --db err
offers '' --seed ''
offers '' doctor ''
# The script of the source tree, and nothing of it is run.
complete -p lab >/dev/null || bad=1
mkdir -p tree/build/default/bin
ln -s "$work/lapenna-lab" tree/build/default/bin/lapenna-lab
printf '#!/bin/sh\ntouch started\n' >tree/lab
chmod +x tree/lab
COMP_WORDS=(tree/lab step ml)
COMP_CWORD=2
_lapenna_lab 2>>errors
[[ ${COMPREPLY[*]} == mlp-digits && ! -e started ]] || { echo 'tree/lab step ml'; bad=1; }
if grep -v compopt errors; then
    bad=1
fi
exit "$bad"
