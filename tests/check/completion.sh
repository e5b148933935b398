#!/usr/bin/env bash
# completion.sh ROOT -- what bash offers after a few beginnings. A program of
# its own stands in for lapenna-lab, so that the lessons and runs are known.
# No -e: compopt fails outside of a real completion.
set -uo pipefail
root=$1
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
source "$root/completions/lapenna-lab.bash" || exit 1
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
offers 'auto cpu cuda' --backend ''
offers 'cpu cuda' --backend = c
offers 'fp16 fp32 fp64' --precision fp
offers 'profile' pro
offers 'mlp-digits' ml
offers 'mlp-digits' step ml
offers 'mlp-digits' --batch 4 --backend = cpu run ml
offers 'lint list' lesson li
offers 'softmax' lesson show so
offers '17' profile show ''
offers 'lapenna-lab' lesson lint lap
offers 'gemm' lab ge
offers 'gemm' lab tune g
offers 'batch-size' lab batch
offers 'softmax' lab products so
offers 'errors' --db err
offers '' --seed ''
offers '' doctor ''
if grep -v compopt errors; then
    bad=1
fi
exit "$bad"
