# shellcheck shell=sh
# What the pictures of a step leave free has what belongs to them: the other channels,
# the row of the element, the values of a small tensor, the steps of the tensor.
steps()
{
    printf 'resize 200 60\nawait 60000 step 0 of\n'
    for step in $(seq "$1"); do
        printf 'key s\nawait 60000 step %s of\n' "$step"
    done
}

{
    steps 3
    printf 'await 60000 relu1.out[0,↓,→,*]  * 0 to 5 of 16\n'
    printf 'await 60000 [0]\nawait 60000  5\n'
    printf 'await 60000 steps of relu1.out\nawait 60000 read by    conv2.conv\n'
    # Another channel is chosen, and all are of another sample.
    printf 'key 2\nkey }\nkey ]\nawait 60000 [1]\nkey {\nkey ]\n'
    printf 'await 60000 relu1.out[1,↓,→,*]\nquit\n'
} >typed
play cnn-digits --backend cpu <typed

# Elements share cells as evenly as there is room, 1.18 columns of 119 in half blocks.
# Beside the values that of most of a row's come first.
word2vec()
{
    steps 4
    printf 'await 60000 max of %s\n' "$1"
    for step in 5 6 7 8; do
        printf 'key s\nawait 60000 step %s of\n' "$step"
    done
    printf 'await 60000 max of %s\n' "$2"
    for step in 9 10; do
        printf 'key s\nawait 60000 step %s of\n' "$step"
    done
    printf 'await 60000 emb1.W.grad, row 0, the largest\nabsent row %s,\n' "$3"
    printf 'key 2\nkey Down\n'
    printf 'await 60000 emb1.W.grad, row %s, the largest\n' "$3"
    printf 'resize 80 24\nabsent the largest\nquit\n'
}
word2vec 1.68x1.18 1x2.43 2 >typed
play word2vec-cbow --backend cpu --color always <typed
word2vec 3.56x2.38 1.6x4.96 5 >typed
play word2vec-cbow --backend cpu <typed

# The arrows reach each of the elements that share cells so.
{
    steps 4
    printf 'await 60000 max of 1.68x1.18\nkey 2\n'
    printf 'key Right\n%.0s' 1 2 3 4 5 6 7
    printf 'key Down\n%.0s' 1 2 3 4 5
    printf 'await 60000 loss.probs[5,7] = \nquit\n'
} >typed
play word2vec-cbow --backend cpu --color always <typed
expect_exit 0

{
    steps 2
    printf 'await 60000 [0,1]      3.2\nawait 60000 [0,3]      1.5\n'
    printf 'key s\nawait 60000 ▸(×)─\nquit\n'
} >typed
play lstm-example --backend cpu <typed

# A step of single numbers: the function that computes it.
{
    steps 8
    printf 'await 60000 kernels/loss/weighted_sum_ref.c  o opens it\n'
    printf 'await 60000 static enum lab_status weighted_sum_reduce\nquit\n'
} >typed
play cnn-example --backend cpu <typed

# Feature maps by sample and channel are no pictures: their cells fill the pane, with
# numbers where there are backgrounds. Alone, a vector's numbers are below its cells.
{
    steps 2
    printf 'await 60000 conv1.out[↓,0,0,→]\nawait 60000 norm1.mean 1x16\n'
} >typed
{
    cat typed
    printf 'await 60000 -0.17 -0.27 -0.37\nquit\n'
} >colors
{
    cat typed
    printf 'resize 80 24\nkey 2\nawait 60000    0 -0.2011 -0.1718 -0.2666\n'
    printf 'key End\nawait 60000   12 \nquit\n'
} >plain
play residual --backend cpu --color always <colors
play residual --backend cpu <plain

# On a large screen too, and below them what computes the step.
{
    printf 'resize 200 60\nawait 60000 step 0 of\n'
    printf 'text :run loss.mean\nkey Enter\nawait 60000 next: loss.mean\nkey s\n'
    printf 'await 60000 next: loss.softmax\nkey 2\nkey x\nkey a\n'
    printf 'await 60000    0 2.78139 2.30982\nawait 60000   63 2.15147\n'
    printf 'expect kernels/loss/softmax_cross_entropy_ref.c  o opens it\nquit\n'
} >typed
play cnn-digits --backend cpu --batch 64 --color always <typed
expect_exit 0

# An LSTM's cell: the gates' letters above z, beside each the mark of the unit's column,
# and a spread between the states.
{
    printf 'resize 200 60\nawait 60000 step 0 of\n'
    printf 'text :run lstm1.cell.1\nkey Enter\nawait 60000 next: lstm1.cell.1\n'
    printf 'key s\nawait 60000 lstm1.z.1 16x768\nkey 2\nkey Right\n'
    printf 'await 60000  a▾ \nexpect  i▾ \nexpect  f▾ \nexpect  o▾ \n'
    printf 'expect │lstm1.c.0 16x192  lstm1.c.1  min \nquit\n'
} >typed
play lstm-text --backend cpu --color always <typed
expect_exit 0

# A vector alone, and the pane of the kernels where it has the screen.
{
    steps 5
    printf 'await 60000 flatten1.out[↓,→]\n'
    printf 'await 60000 kernels/flatten/flatten_ref.c  o opens it\n'
    printf 'resize 80 24\nkey 4\nkey z\nawait 60000 variant\n'
    printf 'await 60000 kernels/flatten/flatten_ref.c  o opens it\nquit\n'
} >typed
play cnn-example-rows --backend cpu <typed

# Of more slices than a contact sheet has room for, those around the chosen one.
{
    steps 1
    printf 'text :print x[300,3,3,0]\nkey Enter\n'
    printf 'await 60000 x[*,↓,→,0]  * \nawait 60000  of 512\nawait 60000  299\nawait 60000 [300]\n'
    printf 'key A\nawait 60000 slices 256 to \nawait 60000 of 512: the arrows go on\nawait 60000 [300] \n'
    printf 'key End\nawait 60000 to 511 of 512\nawait 60000 [511] \n'
    printf 'key Home\nawait 60000 slices 0 to \nawait 60000 [0] \nquit\n'
} >typed
play cnn-digits --backend cpu --batch 512 <typed

# Where a place is left the element's neighbours are there as numbers, in lines.
{
    steps 2
    printf 'await 60000 fc1.out, values around the cursor\nquit\n'
} >typed
play early-stop --backend cpu --color always <typed

# What is not computed yet has a line, and what is there has the room.
{
    printf 'resize 200 60\nawait 60000 step 0 of\n'
    printf 'await 60000 conv1.conv[0,↓,→,0]  not computed yet\n'
    printf 'await 60000 x, row 0\nawait 60000 x  min 0 max 1\n'
    printf 'key s\nawait 60000 step 1 of\nabsent not computed yet\nquit\n'
} >typed
play cnn-digits --backend cpu <typed

# Of an element its values in the iterations that were walked; how the terms add up; two
# tensors of one shape in one picture.
{
    steps 3
    printf 'absent first 56\n'
    for step in 4 5 6 1 2 3; do
        printf 'key s\nawait 60000 step %s of\n' "$step"
    done
    printf 'await 60000 loss  first 56  last -22.4  least -22.4\n'
    printf 'key r\nawait 60000 step 2 of\nabsent first 56\nquit\n'
} >typed
play forgotten-check --backend cpu <typed
expect_exit 0
{
    steps 1
    printf 'await 60000 twice.out by x, of each element\nquit\n'
} >typed
play forgotten-check --backend cpu <typed
expect_exit 0

{
    steps 3
    printf 'await 60000 loss, sum of the largest\nquit\n'
} >typed
play one-tile --backend cpu <typed
expect_exit 0

# Below the texts of the steps the introduction.
{
    steps 3
    printf 'await 60000 the lesson\nawait 60000 A network that has seen\nquit\n'
} >typed
play early-stop --backend cpu <typed

# What is left has what the step reads and writes, what the letters of its formula run
# over, how often each of few values occurs, all values by size, a vector over its index.
# STEP TEXT...: after so many steps; none of it at 80x24.
has()
{
    left=$1
    shift
    {
        steps "$left"
        printf 'await 60000 %s\n' "$@"
        printf 'resize 80 24\n'
        printf 'absent %s\n' "$@"
        printf 'quit\n'
    } >typed
}
has 1 'n of 12   ' 'n of 96   ' 'by size, median'
play model-sizes --backend cpu --no-tune --color always <typed
has 5 'r: read, w: written' 'r loss.sample' 'w loss ' 'letters of the formula' 'n summed'
play training-loop --backend cpu --no-tune --color always <typed
has 1 ' over its index'
play rnn-fibonacci --backend cpu --no-tune --color always <typed
has 3 'enc.z.0, row 0, largest'
play seq2seq --backend cpu --no-tune --color always <typed
expect_exit 0

# All tensors that a step moves or no list: here is no row for the one that it writes.
{
    steps 9
    printf 'absent r: read, w: written\nquit\n'
} >typed
play activations --backend cpu --no-tune --color always <typed
expect_exit 0
has 10 'r fc1.W.grad' 'rw fc1.W'
play sigmoid-gradient --backend cpu --no-tune --color always <typed
expect_exit 0
