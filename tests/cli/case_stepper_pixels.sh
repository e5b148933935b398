# shellcheck shell=sh
# A row of the data, the weights of a unit and their product are images: of pixels, and
# never of the samples of a batch.
play mlp-mnist --backend cpu --batch 1437 <<'END'
resize 200 60
await 60000 step 0 of
key s
await 60000 step 1 of
await 60000 x[0,:]
await 60000 product, sum
key 2 G
await 60000 fc1.W[:,15]
absent product, sum
quit
END

# As many samples as pixels.
play softmax-regression --backend cpu --batch 64 <<'END'
resize 200 60
await 60000 step 0 of
key s
await 60000 step 1 of
await 60000 fc1.W[:,0]
await 60000 product, sum
absent fc1.xW[:,0]
quit
END
{
    printf 'resize 200 60\nawait 60000 step 0 of\n'
    for step in $(seq 14); do
        printf 'key s\nawait 60000 step %s of\n' "$step"
    done
    printf 'await 60000 [fc1.W.grad]\nwait 500\n'
    printf 'absent x[:,0]\nabsent fc1.xW.grad[:,0]\nquit\n'
} >typed
play mlp-digits --backend cpu --batch 64 <typed
