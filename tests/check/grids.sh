#!/bin/sh
# grids.sh ROOT -- a kernel's place comes from blockIdx.x alone: a grid has at most
# 65,535 blocks in y and in z, and a size that is larger would not be launched.
set -eu
cd "$1"
# The learner's own grid, which lab_first_fits() judges; the pieces of a layer's
# weights, of which there are a few dozen.
allowed='kernels/first/kernels\.cu|kernels/recurrent/recurrent_cudnn\.cu'
find kernels -name '*.cu' -o -name '*.cuh' | grep -q . ||
    { echo "no kernel was found"; exit 1; }
if grep -rnE '(blockIdx|gridDim)\.[yz]' kernels --include='*.cu' --include='*.cuh' |
    grep -vE "^($allowed):"; then
    echo "these use a grid's y or z: number the blocks in x (common/tiles.cuh)"
    exit 1
fi
