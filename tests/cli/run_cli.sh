#!/bin/sh
# run_cli.sh CASE -- runs one case of this directory: case_NAME.sh.
# LAB_EXE is the program (an absolute path).
set -u
LAB_CLI_DIR=$(cd "$(dirname "$0")" && pwd) || exit 1
export LAB_CLI_DIR
[ -x "${LAB_EXE:-}" ] || { echo "LAB_EXE is not a program"; exit 1; }
case_file=$LAB_CLI_DIR/case_$1.sh
[ -f "$case_file" ] || { echo "no such case: $1"; exit 1; }
# shellcheck source=lib.sh
. "$LAB_CLI_DIR/lib.sh"
# shellcheck source=/dev/null
. "$case_file"
finish
