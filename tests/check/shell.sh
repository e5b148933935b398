#!/bin/sh
# shell.sh ROOT -- the scripts parse, and shellcheck finds nothing in them; the
# manual page has no groff warning.
set -eu
cd "$1"
sh -n lab
bash -n .ci/run
bash -n completions/lapenna-lab.bash
! command -v zsh >/dev/null || zsh -n completions/_lapenna-lab
if command -v groff >/dev/null; then
    warnings=$(groff -man -ww -z -Tutf8 docs/lapenna-lab.1 2>&1)
    [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi
if ! command -v shellcheck >/dev/null; then
    echo "parsed only: no shellcheck here"
    exit 0
fi
shellcheck -x lab .ci/run bench/gpu_all.sh tests/fuzz/*.sh completions/lapenna-lab.bash tests/check/*.sh
# A case shares its variables with lib.sh.
shellcheck -x -P SCRIPTDIR -e SC2154,SC2034 tests/cli/*.sh
