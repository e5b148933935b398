# shellcheck shell=sh
# The variables of a kernel while it is walked: by their names in the source, from what
# nvcc and clang leave of them; a value that no register has is not shown.
files=$LAB_SOURCE_DIR/tests/cli/golden/files
cp "$files"/rows.cu "$files"/rows.ptx "$files"/rows_clang.ptx .

walk() { # PTX; words on standard input. x[i] is i, a row has 200
    cat >words
    command="lapenna-lab sim $1 --walk"
    status=0
    "$LAB_EXE" sim "$1" --kernel rows --grid 2 --block 64 --walk \
        --arg 'out:float[128]' --arg 'in:float[2,200]=iota' --arg int:9 \
        --arg int:200 <words >"$out" 2>"$err" || status=$?
}

for ptx in rows.ptx rows_clang.ptx; do
    # The second time in the loop: c is the thread and 64, sum the square before.
    walk $ptx <<'WORDS'
block 1
break 20
continue
continue
print v
print c
print sum
print row
print cols
print four
print x
print threadIdx.x
print none
WORDS
    expect_exit 0
    expect_no_stderr
    cp "$out" loop.txt
    seen=$(sed -n 's/^  lane  0: //p' loop.txt)
    [ "$seen" = "$(printf '%s\n' \
        '296 297 298 299 300 301 302 303' \
        '96 97 98 99 100 101 102 103' \
        '53824 54289 54756 55225 55696 56169 56644 57121' \
        '1 1 1 1 1 1 1 1' '200 200 200 200 200 200 200 200' \
        '4 4 4 4 4 4 4 4' \
        'x[0,0] x[0,0] x[0,0] x[0,0] x[0,0] x[0,0] x[0,0] x[0,0]' \
        '32 33 34 35 36 37 38 39')" ] || complain "$ptx: the values are $seen"
    expect_stdout "no variable 'none' can be seen here: there is v, c, sum"

    # A chain of sums, unrolled: 1 + 2 * (0 + ... + 8). k is in no register, best is
    # chosen, near is added to an address.
    walk $ptx <<'WORDS'
break 29
continue
print total
print best
print near
registers
WORDS
    expect_exit 0
    expect_stdout 'total  float, in %f'
    expect_stdout '  lane  0: 73 73 73 73 73 73 73 73'
    expect_stdout 'no register is known to have best here'
    expect_stdout 'no register is known to have near here'
    expect_stdout '  total          73              float, in %f'
    expect_stdout '  in no known register: '
done

# In a function that was inlined: its own variable, then its caller's. Lanes 0, 4, ...
# 28 are added up after three shuffles, each of its squares.
walk rows.ptx <<'WORDS'
break 7
continue
instruction 1
instruction 18
print v
registers
WORDS
expect_stdout 'v  float, in %f'
expect_stdout "  lane  0: $(awk 'BEGIN { for (t = 0; t < 32; t += 4)
    for (c = t; c < 200; c += 64) sum += c * c; print sum }')"
expect_stdout 'rows.cu:7  v += __shfl_down_sync'

# What changes through a reference, asm or within a condition is not shown as it was at
# the launch, and the sign that a division begins with is not its quotient.
cp "$files"/elsewhere.cu "$files"/elsewhere.ptx .
cat >words <<'WORDS'
break 13
continue
registers
WORDS
command="lapenna-lab sim elsewhere.ptx --walk"
status=0
"$LAB_EXE" sim elsewhere.ptx --grid 1 --block 32 --walk --arg 'inout:int[128]=iota' \
    --arg int:9 --arg int:9 --arg int:9 --arg int:9 --arg int:7 <words >"$out" 2>"$err" ||
    status=$?
expect_exit 0
expect_stdout '  same           7               int'
absent=$(sed -n 's/^  in no known register: //p' "$out")
for name in half n m k w; do
    case ", $absent," in
    *", $name,"*) ;;
    *) complain "$name is shown; in no register are: $absent" ;;
    esac
    ! grep "^  $name " "$out" || complain "$name is shown"
done

# An inlined function's value (i), one division for two (n, m), fmaf (acc), and a sum
# whose part is a difference: a - y[k] is not the sum.
cp "$files"/named.cu "$files"/named.ptx "$files"/named_clang.ptx .
for ptx in named.ptx named_clang.ptx; do
    cat >words <<'WORDS'
block 1
break 22
continue
print i
print n
print m
print acc
print sum
delete 22
break 24
continue
print sum
WORDS
    command="lapenna-lab sim $ptx --walk"
    status=0
    "$LAB_EXE" sim $ptx --grid 2 --block 64 --walk --arg 'out:float[9,10]' \
        --arg 'in:float[32]=iota' --arg 'in:float[32]=iota' --arg long:9 --arg long:10 \
        --arg int:7 <words >"$out" 2>"$err" || status=$?
    expect_exit 0
    expect_no_stderr
    seen=$(sed -n 's/^  lane  0: //p' "$out")
    [ "$seen" = "$(printf '%s\n' '64 65 66 67 68 69 70 71' '6 6 6 6 6 6 7 7' \
        '4 5 6 7 8 9 0 1' '126 126 126 126 126 126 147 147' '4 5 6 7 8 9 0 1' \
        '4 5 6 7 8 9 0 1')" ] || complain "$ptx: the values are $seen"
done

# A source that is not there is named, and the walk goes on without.
rm rows.cu
walk rows.ptx <<'WORDS'
step
print sum
registers
WORDS
expect_exit 0
expect_stdout 'source not found: rows.cu'
expect_stdout '%r19   = 200'
