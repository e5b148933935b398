# shellcheck shell=sh
# Labs that are commands have a picture of their rows: recorded ones before anything ran,
# then this machine's, with both as lines.
play lab-batch-size --backend cpu --ascii --db picture.db <<'END'
resize 80 24
await 60000 Lab: how large a batch
key t
await 60000 v has the picture of recorded results
key v
expect recorded: NVIDIA H200, run 391 of
expect by batch, less is better, 0 to 34.8 us / sample
expect 65.5 ns / sample
expect Times: ns against the batch
key Down
expect cuda: 33.9 us an iteration, 117,869 samples/s
key m
await 60000 there is no other machine to show
key r
await 60000 what it has printed; v has its picture
key v
await 60000 1 cpu
expect 2 best of recorded
key P
await 60000 2 best of CPU
expect recorded: NVIDIA H200, run 391 of
enter :export picture.svg
await 60000 picture.svg
resize 180 45
await 60000 what it has printed, and its picture
expect samples/s
expect 2 best of CPU
END
grep -q '>1024<' picture.svg || complain 'the picture is not in picture.svg'

# `--picture` has it without a terminal.
printf 'resize 80 24\nkey t\nawait 60000 v has the picture\nkey v\nexpect run 391 of\n' >batch.keys
exits 0 --backend cpu --ascii --db none.db --picture batch.svg --replay batch.keys lab-batch-size
grep -q '>2.62<' batch.svg || complain 'batch.svg has no bars'
# NO_COLOR is about the terminal: the file has its colours, unless it is asked for without.
NO_COLOR=1
export NO_COLOR
exits 0 --backend cpu --ascii --db none.db --picture asked.svg --replay batch.keys lab-batch-size
unset NO_COLOR
cmp batch.svg asked.svg || complain 'NO_COLOR changed the picture'
exits 0 --backend cpu --ascii --db none.db --color never --picture plain.svg --replay batch.keys \
    lab-batch-size
! cmp -s batch.svg plain.svg || complain '--color never left the colours'

# One lesson of a sweep of all: its phases; Right is the next one.
play lab-backward --backend cpu --ascii --db picture.db <<'END'
resize 80 24
await 60000 Lab: backward against forward
key t
await 60000 v has the picture of recorded results
key v
expect run 394 of
expect lesson [softmax-regression]
expect 4.86 us / iteration
key Right
await 60000 lesson softmax-mnist, less is better, 0 to
key Right
await 60000 lesson mlp-digits, less is better, 0 to
key v Right v
await 60000 lesson mlp-digits, less is better, 0 to
key Down
expect backward:
expect % of an iteration's time
END

# The calls of a convolution: powers of ten apart.
play lab-cudnn-calls --ascii --db picture.db <<'END'
resize 80 24
await 60000 Lab: cuDNN's calls
key t
await 60000 v has the picture of recorded results
key v
expect run 376 of
expect log from 1.00 us / call to 220 ms / call
key End
await 60000 22 cudaMemcpy
expect cudaMemcpy(result, y, 768, cudaMemcpyDeviceToHost)
END

# A recorded variant is compared with the ceiling of its own precision, which the device has.
play lab-precision --backend cpu --ascii --db screen.db <<'END'
resize 160 50
await 60000 fewer bits
key P
await 60000 recorded on NVIDIA H200
key Down Down
expect Profile: tf32, tf32
expect % of the ceiling (tf32)
absent its ceiling was not measured
END

# The course's card ran two libraries: a line for each, not one that jumps between them.
play lab-dgemm --backend cpu --ascii --db picture.db <<'END'
resize 200 60
await 60000 Rates: GFLOP/s against the size
expect slide, MAGMA, Tesla P100
expect slide, cuBLAS, Tesla P100
expect slide, its CPU
key q
END
