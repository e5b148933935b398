#!/bin/sh
# faults.sh COMPILER -- faults.py, where there is that compiler.
set -eu
case $1 in
nvcc) PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin ;;
esac
if ! command -v "$1" >/dev/null && ! ls /usr/bin/"$1"-[0-9]* >/dev/null 2>&1; then
    echo "skipped: no $1 on this machine"
    exit 77
fi
exec "${LAB_PYTHON:-python3}" "$(dirname "$0")/faults.py" "$1"
