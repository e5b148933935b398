#!/bin/sh
# no_nvidia.sh BUILD -- the program links no NVIDIA library, and works with its
# modules hidden, as on a machine that has none. The CUDA module, where it was
# built, wants none at load either, so that it can state what is missing.
set -eu
exe=$1/bin/lapenna-lab
nvidia='lib(cuda|cudart|cublas|cublasLt|cudnn|cupti|nvrtc|nvidia|nccl|nvToolsExt)'

needed=$(readelf -d "$exe" | grep NEEDED)
all=$(ldd "$exe")
if printf '%s\n%s\n' "$needed" "$all" | grep -E "$nvidia"; then
    echo "the program links an NVIDIA library"
    exit 1
fi
printf '%s\n' "$all" | grep -q 'libc\.so' || { echo "ldd prints nothing"; exit 1; }
for module in "$1"/lib/*cuda*.so; do
    [ -e "$module" ] || continue
    if readelf -d "$module" | grep NEEDED | grep -E "$nvidia"; then
        echo "$module wants an NVIDIA library at load"
        exit 1
    fi
done

hidden=$(mktemp -d)
trap 'rm -rf "$hidden"' EXIT
for dir in "$hidden" "$hidden/nonexistent"; do
    status=0
    LAPENNA_LAB_MODULE_DIR=$dir "$exe" --version >"$hidden/out" || status=$?
    if [ "$status" -ne 0 ] || ! grep -q 'lapenna-lab' "$hidden/out"; then
        echo "--version with the modules hidden: exit $status"
        cat "$hidden/out"
        exit 1
    fi
    # doctor states in a line that CUDA is missing, and that is no failure.
    status=0
    LAPENNA_LAB_MODULE_DIR=$dir "$exe" doctor >"$hidden/out" || status=$?
    if [ "$status" -ne 0 ] || ! grep -qi 'cuda' "$hidden/out"; then
        echo "doctor with the modules hidden: exit $status"
        cat "$hidden/out"
        exit 1
    fi
done
