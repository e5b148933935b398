#!/bin/sh
# shell.sh ROOT BUILD -- the scripts parse, and shellcheck finds nothing in them; the
# manual page has no groff warning.
set -eu
cd "$1"
pages=$2/share
sh -n lab
bash -n .ci/run
bash -n "$pages/bash-completion/completions/lapenna-lab"
! command -v zsh >/dev/null || zsh -n "$pages/zsh/site-functions/_lapenna-lab"
if command -v groff >/dev/null; then
    warnings=$(groff -man -ww -z -Tutf8 "$pages/man/man1/lapenna-lab.1" 2>&1)
    [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi
if ! command -v shellcheck >/dev/null; then
    echo "parsed only: no shellcheck here"
    exit 0
fi
shellcheck -x lab .ci/run bench/*.sh profiles/recorded/make.sh tests/fuzz/*.sh tests/fault/*.sh tests/check/*.sh
shellcheck -s bash "$pages/bash-completion/completions/lapenna-lab"
# A case shares its variables with lib.sh.
shellcheck -x -P SCRIPTDIR -e SC2154,SC2034 tests/cli/*.sh
