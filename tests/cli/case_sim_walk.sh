# shellcheck shell=sh
# `sim --walk`, and the kernel's screen: a kernel walked line by line, and back.
files=$LAB_SOURCE_DIR/tests/cli/golden/files
cp "$files"/turn.* .

walk() { # words on standard input
    cat >words
    command="lapenna-lab sim turn.ptx --walk"
    status=0
    "$LAB_EXE" sim turn.ptx --grid 2 --block 64 --walk --arg 'in:int[128]=iota' \
        --arg 'out:int[128]' <words >"$out" 2>"$err" || status=$?
}

walk <<'WORDS'
print out[40]
step
warps
back
back
break 1000
foo
writer 1[40]
lanes
print %nothing
print in[77]
print out[40]
print out[128]
print s[3]
print s
watch s[3]
print none[3]
help
kernel
block 1
watch 1[70]
continue
continue
continue
continue
continue
findings
quit
step
WORDS
expect_exit 1
expect_no_stderr
expect_stdout 'block (0,0,0)  warp 0 of 2: 32 of 32 lanes'
expect_stdout '  warp  0  turn.cu:2'
expect_stdout 'this is where the walk began'
expect_stdout 'no other kernel is launched here: '
expect_stdout 'the kernel has no code of line 1000'
expect_stdout "no word 'foo'"
expect_stdout '1[40] is written by lane 8, thread (40,0,0)'
expect_stdout 'out[40]'
expect_stdout 'uninitialised: read of what nothing wrote: shared memory s'
expect_stdout 'what is watched was touched'
expect_stdout 'all warps of the block have ended'
expect_stdout 'it is one of 2 blocks; '
expect_stdout 'the kernel has no register %nothing'
expect_stdout 'in[77] = 77  int, in memory'
expect_stdout 'out[40] = -  int, in memory: nothing has written it'
expect_stdout 'out[40] = 0  int, in memory'
[ "$(grep -c '^s is an array in shared memory: .shared s. prints it' "$out")" = 3 ] ||
    complain "of an array in shared memory"
expect_stdout 'no memory is called none: there is '
expect_stdout '  print       NAME|%R|X[I] a variable'
expect_stdout 'out[128]: an index for each of 1 dimensions, the first from 0 to 127'

# Who wrote each element of the output so far: a picture that grows from block to block,
# and a block that is walked again begins with nothing.
walk <<'WORDS'
output
continue
continue
continue
continue
continue
continue
output
block 1
output
continue
continue
continue
continue
continue
continue
output
back
back
back
back
back
back
output
WORDS
expect_exit 1
grep -q 'no block that was walked has written to a tensor yet' "$out" ||
    complain "an output before it was written"
# A sign is two elements: 32 of a block of 64 threads, 16 of a warp.
of_warps=00000000000000001111111111111111
other=++++++++++++++++++++++++++++++++
none=................................
grep -E '^  [0-9a-v.+x*=]{64}$' "$out" | tr -d ' ' >pictures
printf '%s\n' "$of_warps$none" "$other$none" \
    "$other$of_warps" >want
head -3 pictures | cmp -s - want || complain "$(cat pictures)"
[ "$(sed -n 4p pictures)" != "$(sed -n 3p pictures)" ] ||
    complain "what was gone back over is still written"
expect_stdout 'out [128]: 64 of 128 elements are written; a sign is 1 x 2'
expect_stdout 'out [128]: 128 of 128 elements are written'
# A race is one sentence, however many threads are in it; registers have their line.
"$LAB_EXE" sim turn.ptx --grid 1 --block 64 --arg 'in:int[64]' \
    --arg 'out:int[64]' --walk >"$out" 2>"$err" <<'WORDS'
step
registers
continue
continue
continue
findings
WORDS
status=$?
expect_exit 1
expect_stdout '= &out[0]'
expect_stdout 'out, a parameter'
[ "$(grep -c '^race: read' "$out")" -le 4 ] || complain "a line for each thread"
expect_stdout 'times on this line'
# Without findings on the way the end is 0.
walk <<'WORDS'
warps
WORDS
expect_exit 0
exits 2 sim turn.ptx --grid 2 --block 64 --walk --json --arg 'in:int[128]=iota' \
    --arg 'out:int[128]'
expect_stderr '--walk prints lines of text: it has no --json'

# A sign for elements of several warps is no warp's.
"$LAB_EXE" sim turn.ptx --grid 2 --block 64 --arg 'in:int[128]' \
    --arg 'out:int[8192]' --walk >"$out" 2>"$err" <<'WORDS'
continue
continue
continue
continue
continue
continue
output
WORDS
status=$?
expect_exit 1
grep -q '^  #\.\{63\}$' "$out" || complain "the sign of several warps"

"$LAB_EXE" step mlp-digits --backend cpu --into fc1.matmul </dev/null \
    >"$out" 2>"$err"
status=$?
expect_exit 4
expect_stderr 'start with --backend sim'
exits 2 step mlp-digits --backend cpu --into fc1.matmull
expect_stderr 'did you mean fc1.matmul'

# Inside a step's kernels, where this build has them.
"$LAB_EXE" doctor 2>/dev/null | grep -q '^simulator  *ok' || finish
play mlp-digits --backend sim <<'KEYS'
resize 80 24
await 60000 next: fc1.matmul
expect i into
key i
await 60000 before its first instruction
expect dense_matmul_fwd_naive
expect block (0,0,0)  warp 0 of 8  32 of 32 lanes run
key n
await 60000 instructions of warps in this block
key r e
expect fc1.xW[0,0]
key ^U
enter fc1.xW[3,2]
await 60000 lane 18 is thread (50,0,0)
expect lane 18: fc1.xW[3,2]
key c
await 60000 all warps of the block have ended
key q
await 60000 next: fc1.bias
key B
KEYS
"$LAB_EXE" step mlp-digits --backend sim --into 'fc1.matmul backward' \
    >"$out" 2>"$err" <<'WORDS'
elements
WORDS
status=$?
expect_exit 0
expect_stdout 'reads fc1.out.grad[0,0] to fc1.out.grad[9,0]: 10 elements'
[ "$(grep -c '^dense_matmul' "$out")" = 1 ] || complain 'walked in another phase'
# Back, and after leaving, the tensors of a lesson are what they were: an update in place
# is made once, and what nothing has written is unwritten again.
exits 0 step inside-kernel --backend sim
grep -A 6 '^6\. fc1\.W  (update' "$out" >plain.step
"$LAB_EXE" step inside-kernel --backend sim --into fc1.W >"$out" 2>"$err" <<'WORDS'
writer fc1.W[3,7]
elements
back
print fc1.W[3,7]
continue
WORDS
status=$?
expect_exit 0
expect_stdout 'fc1.W[3,7] = 1'
grep -A 6 '^6\. fc1\.W  (update' "$out" | cmp -s - plain.step ||
    complain 'an update that was walked is another'
"$LAB_EXE" step missing-barrier --backend sim --into sums.conv >"$out" 2>"$err" <<'WORDS'
writer sums.out[0,0,0,0]
back
print sums.out[0,0,0,0]
WORDS
expect_stdout 'nothing has written it'
# From a lab's screen into the chosen variant, and back.
play lab-stencil --backend sim <<'KEYS'
resize 80 24
key t
await 60000 i goes into the chosen variant's kernel
key i
await 60000 before its first instruction
expect stencil_global
key n
await 60000 instructions of warps in this block
key q
await 60000 i goes into the chosen variant's kernel
KEYS
# A key that comes before the lab is opened waits for it.
play lab-saxpy --backend sim <<'KEYS'
key i
resize 80 24
await 60000 before its first instruction
KEYS
# The source is the program's own where its place at the build is not there.
play lab-stencil --backend sim <<'KEYS'
resize 80 24
key i
await 60000 before its first instruction
expect __global__
KEYS
# A variant of a lab, whose race is found when it then runs.
"$LAB_EXE" lab stencil --backend sim --into no_barrier --sizes 300 >"$out" 2>"$err" <<'WORDS'
step
shared
shared tile
finish
continue
list
WORDS
status=$?
expect_exit 1
# The beginning of each array, or the whole of one by its name: the halo is at the end.
expect_stdout '   198 more words: shared 64'
grep -q '^   256: - - - - - -$' "$out" || complain 'the end of the tile'
expect_stdout 'stencil, variant no_barrier in fp32, size 300, on NVIDIA H200 (simulated)'
expect_stdout 'stencil_shared  launch.cuh'
expect_stderr 'race in stencil_shared at kernels/stencil/sums.cu'
# A warp that has ended: the kernel's own lines, also after a walk through another file.
for way in '' 'writer emb1.W.m[60,9]
back'; do
    printf 'continue\n%s\nlist\n' "$way" |
        "$LAB_EXE" step word2vec-cbow --backend sim --into 'emb1.W update' >"$out" 2>"$err"
    grep -q '^ *[0-9]*     12  static __global__ void adam_update(' "$out" ||
        complain "list of a warp that has ended $way"
done
# Shared memory in the type of its source: sums of two warps in double.
"$LAB_EXE" lab dot --backend sim --into blocks --sizes 10000 >"$out" 2>"$err" <<'WORDS'
break 39
continue
continue
shared
WORDS
status=$?
command=' lab dot --into'
expect_exit 0
expect_stdout 'of_warp, of double'
grep -q '^     0: -*[0-9][0-9.]* -*[0-9][0-9.]* - - - - - -$' "$out" ||
    complain 'sums in double'
# A walk is text, and has no place between lines of JSON.
exits 2 lab stencil --backend sim --into no_barrier --json
expect_stderr '--into prints lines of text: it has no --json'
exits 2 step mlp-digits --backend sim --into fc1.matmul --json
expect_stderr '--into prints lines of text: it has no --json'
expect_no_stdout
# A lab's tensors have the operation's names.
"$LAB_EXE" lab gemm --backend sim --into naive --sizes 32 >"$out" 2>"$err" <<'WORDS'
writer C[3,4]
elements
WORDS
status=$?
expect_exit 0
expect_stdout 'C[3,4] is written by lane 3'
expect_stdout 'reads A[3,0] to A[3,31]: 32 elements'
expect_stdout 'reads B[0,4] to B[31,4]: 32 elements'
# `kernel` goes to the step's next one, `quit` leaves all of them.
for word in kernel quit; do
    printf '%s\nfindings\n' $word >words
    "$LAB_EXE" step mlp-digits --backend sim --into 'fc2.matmul backward' \
        <words >$word.step 2>"$err" || complain "$word in a step"
    printf 'into fc2.matmul backward\n%s\nwarps\nstep\n' $word >words
    "$LAB_EXE" --plain mlp-digits --backend sim <words >$word.plain 2>$word.err ||
        complain "$word in --plain"
done
grep -q '^dense_matmul_dx' kernel.step || complain 'not in the next kernel'
grep -q '^dense_matmul_dx' quit.step && complain 'walked behind quit'
grep -q '^> warp  0 .*, 0 instructions' kernel.plain || complain 'not a word of a kernel'
grep -q '^> warp' quit.plain && complain 'still in a kernel'
grep -q "warps" quit.err || complain 'no word of the stepper'
exits 4 lab stencil --into no_barrier
expect_stderr 'start with --backend sim'
# A load of 16 bytes reads four elements.
"$LAB_EXE" step mlp-digits --backend sim --into 'fc1.bias forward' \
    --variant fc1=vector >"$out" 2>"$err" <<'WORDS'
elements
WORDS
status=$?
expect_exit 0
expect_stdout 'reads fc1.xW[0,0] to fc1.xW[0,3]: 4 elements'
expect_stdout 'writes fc1.out[0,0] to fc1.out[0,3]: 4 elements'
"$LAB_EXE" --plain mlp-digits --backend sim >"$out" 2>"$err" <<'WORDS'
into fc2.matmul forward
writer fc2.xW[9,9]
quit
step
into nothing
WORDS
status=$?
expect_exit 0
expect_stdout 'fc2.xW[9,9] is written by lane 3, thread (99,0,0)'
expect_stdout 'Next: 5. fc2.bias'
expect_stderr "no step 'nothing'"
play mlp-digits --backend sim <<'KEYS'
resize 80 24
await 60000 next: fc1.matmul
enter :into fc1.W update
await 60000 sgd_update
expect before its first instruction
key q
await 60000 fc1.W
KEYS
play mlp-digits --backend cpu <<'KEYS'
resize 80 24
await 60000 next: fc1.matmul
key i
expect start with
KEYS

# Shared memory through generic addresses: who wrote it is known, an access is one of
# shared memory, and what is outside is named by its byte. Dynamic memory begins where
# the kernel has it, behind a gap; an array of bytes has its last word.
cat >far.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 more[];
.visible .entry far(.param .u64 far_0)
{
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .pred %p<2>;
.shared .align 4 .b8 s[68];
.shared .align 4 .b8 letters[6];
ld.param.u64 %rd7, [far_0];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
cvt.u64.u32 %rd1, %r2;
.loc 1 4 1
mov.u64 %rd2, s;
cvta.shared.u64 %rd3, %rd2;
add.s64 %rd4, %rd3, %rd1;
mov.b32 %r3, 0f40E00000;
st.u32 [%rd4], %r3;
.loc 1 5 1
mov.u32 %r4, letters;
mov.u32 %r5, 0;
st.shared.u32 [%r4], %r5;
st.shared.u8 [%r4+5], %r5;
.loc 1 6 1
mov.u32 %r6, more;
mov.b32 %r7, 0f41100000;
st.shared.u32 [%r6], %r7;
.loc 1 7 1
setp.gt.u32 %p1, %r1, 7;
add.s64 %rd6, %rd7, %rd1;
@%p1 mov.u64 %rd6, %rd4;
st.u32 [%rd6], %r7;
.loc 1 8 1
add.s64 %rd5, %rd4, 40;
st.u32 [%rd5], %r7;
.loc 1 9 1
ret;
}
.file 1 "far.cu"
PTX
seq 9 >far.cu
far() { # words on standard input; 17 lanes
    cat >words
    command="lapenna-lab sim far.ptx --walk"
    status=0
    "$LAB_EXE" sim far.ptx --grid 1 --block 17 --shared 8 --walk \
        --arg 'out:float[8]' <words >"$out" 2>"$err" || status=$?
}
far <<'WORDS'
break 5
break 6
break 7
break 8
continue
shared s
continue
shared letters
continue
shared dynamic
shared
continue
elements
thread 8
elements
thread 0
continue
lanes
WORDS
expect_exit 1
expect_no_stderr
expect_stdout 'line 4: 17 lanes wrote 4 bytes each of shared memory, byte 0 to byte 64'
# PTX alone has no types: bits are shown, 7 and 9 of float.
seven=0x40e00000
[ "$(grep -c "^     0: $seven $seven $seven $seven $seven $seven $seven $seven\$" "$out")" = 2 ] ||
    complain "s was written to"
[ "$(grep -c '^    17: 0x00000000 0x00000000$' "$out")" = 2 ] ||
    complain "the last word of letters"
[ "$(grep -A1 '^bits of a type that is not known: dynamic$' "$out" |
    grep -c '^    32: 0x41100000 -$')" = 2 ] ||
    complain "where dynamic memory begins"
[ "$(grep -c '^writes ' "$out")" = 1 ] || complain "of global memory only"
expect_stdout 'of several memories, argument 0[0] to shared memory s, byte 64 of 68'
expect_stdout 'line 8: 7 lanes wrote 4 bytes each of shared memory, byte 40 to byte 64, 10 lanes outside: 0 bytes after the end of s in shared memory'
grep -q '^   7  7,0,0   runs   0 bytes after the end of s in shared memory$' "$out" ||
    complain "a lane outside"

# Without the source's file the word list reports it.
mv turn.cu elsewhere.cu
walk <<'WORDS'
list
quit
WORDS
expect_exit 0
expect_stdout 'turn.cu: this file of the source is not found here'
[ "$(grep -c 'not found here' "$out")" = 1 ] || complain "reported at every stop"
mv elsewhere.cu turn.cu

# `finish` leaves the inlined function, each in its turn, and at last the kernel; the
# lanes of a line are those that came to it.
cp "$files"/nested.* .
cat >words <<'WORDS'
break 5
continue
finish
finish
finish
finish
fin
back
WORDS
status=0
"$LAB_EXE" sim nested.ptx --grid 1 --block 32 --walk --arg 'out:float[32]' \
    --arg 'in:float[32]' <words >"$out" 2>"$err" || status=$?
expect_exit 0
sed -n 's/^ *[0-9]* > *\([0-9]*\) .*/\1/p; s/^the warp has ended$/ended/p' "$out" |
    tr '\n' ' ' >lines
[ "$(cat lines)" = '16 5 12 5 13 21 ended 21 ' ] ||
    complain "finish comes to $(cat lines)"

# A function of CUDA's that is inlined from its header: the line is that of the call.
cat >atomic.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 y)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .loc 1 3 5
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    .loc 1 4 5
    .loc 2 107 3, function_name $L__info_string0, inlined_at 1 4 5
    atom.global.add.u32 %r2, [%rd1], %r1;
    .loc 1 5 5
    st.global.u32 [%rd1+4], %r1;
    ret;
}
.file 1 "count.cu"
.file 2 "/usr/local/cuda/include/device_atomic_functions.hpp"
.section .debug_str
{
$L__info_string0:
.b8 97,0
}
PTX
command="lapenna-lab sim atomic.ptx --walk"
status=0
printf '%s\n' 'break 4' continue step findings | "$LAB_EXE" sim atomic.ptx --grid 1 \
    --block 1 --walk --arg 'inout:int[2]=zero' >"$out" 2>"$err" || status=$?
expect_exit 0
expect_stdout 'stops at line 4'
expect_stdout 'breakpoint'
expect_stdout 'count.cu:4  block'
expect_stdout '  line 4: 1 lane changed atomically 4 bytes'
expect_stdout 'count.cu:5  block'
! grep -q 107 "$out" || complain "a line of CUDA's header"
