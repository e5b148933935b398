# shellcheck shell=sh
# Offsets of an image tensor: the figure of cuDNN's guide, N1 C64 H5 W4.
run lab offsets
expect_exit 0
expect_no_stderr
expect_stdout 'offsets 0 to 1279'
expect_stdout 'strides: n 1280, c 20, h 4, w 1'
expect_stdout '1276  1277  1278  1279'
expect_stdout 'n = 0, c = 63'
run lab offsets --layout nchw --dims 1,64,5,4 --at 0,31,2,3
expect_exit 0
expect_stdout '0*1280 + 31*20 + 2*4 + 3*1 = 631'
run lab offsets --layout nhwc --at 0,31,2,3
expect_stdout '0*1280 + 2*256 + 3*64 + 31*1 = 735'
run lab offsets --layout chwn --dims 2,3,4,5 --at 1,2,3,4 --json
expect_exit 0
expect_json 'rows[0]["strides"] == [1, 40, 10, 2]' \
    'rows[0]["elements"] == 120' 'rows[0]["offset"] == 119'
# And back.
run lab offsets --layout nhwc --offset 735 --json
expect_json 'rows[0]["at"] == [0, 31, 2, 3]' 'rows[0]["offset"] == 735'
run lab offsets --dims 1,1,17,17
expect_exit 0
expect_stdout '289 elements'

for wrong in '--layout nchh' '--layout nch' '--layout nchwx' '--dims 1,2,3' \
    '--dims 1,2,3,4,5' '--dims 1,2,3,0' '--dims 1,2,3,x' '--at 0,64,0,0' \
    '--at 0,0,0,-1' '--offset 1280' '--offset -1' '--offset 3x' \
    '--dims 4000000000,4000000000,4,4' '--at 0,0,0,0 --offset 0' 'image'; do
    # shellcheck disable=SC2086 # two words are two arguments
    run lab offsets $wrong
    expect_exit 2
    expect_stderr 'lapenna-lab'
done
