# shellcheck shell=sh
# What the course prints, beside what the walk has computed.
row() {
    grep -E "^$1 " "$out" | tr -s ' ' >row
    [ -s row ] || complain "no row of $1"
    grep -qF -e "$2" row || complain "$1: $(cat row), not $2"
}
exits 0 step one-hot --backend cpu
expect_stdout 'printed beside computed'
row 'x\[2,3\]' '1 0 +1 table of 16 words, column R3: the line of service'
row 'x\[0,0\]' '1 1 +0 ok table of 16 words, column R1'
run step model-sizes --backend cpu
row 'loss.sample\[6\]' '1.47456e+09 1.5e+09 -2.5e+07 ok GPT-2'
row 'loss.sample\[2\]' '84934656 110000000 -2.5e+07 BERT-Base'
run step lstm-example --backend cpu
row 'lstm1.W\[1,1\]' '0.800663888 0.80067 -6.1e-06 ok'
row 'lstm1.W\[2,0\]' '0.700315297 0.70031 +5.3e-06 ok'
# 62 values, and the label twice
[ "$(grep -cE '^(lstm1|x|y|loss)[.a-zUWzh0-9]*\[' "$out")" -ge 62 ] ||
    complain 'not every printed value has a row'

inline_lesson small
sed 's/^loss:/printed: [{tensor: fc1.b, values: [0, 9], tolerance: 1},\
  {tensor: fc1.b, values: [9], note: none}]\
&/' small.md >printed.md
exits 0 step printed.md --backend cpu
row 'fc1.b\[1\]' '9 -9 OUTSIDE'
row 'fc1.b\[0\]' '9 -9 none'
run step printed.md --backend cpu --iterations 2
[ "$(grep -c 'printed beside' "$out")" -eq 0 ] ||
    complain 'the slide is compared with another iteration'
run step small.md --backend cpu
[ "$(grep -c 'printed beside' "$out")" -eq 0 ] ||
    complain 'a table of nothing'

# `--plain` has them where the tensor is shown: after its step, and on asking.
printf 's\nprint fc1.b[1]\ncontinue\nprint fc1.b[1]\nexplain fc1.b[0]\n' >words
timeout 300 "$LAB_EXE" --plain printed.md --backend cpu <words >"$out" 2>"$err"
[ "$(grep -c 'fc1.b\[1\] = .* printed 9, .*OUTSIDE' "$out")" -eq 1 ] ||
    complain 'fc1.b[1] is not beside its slide once, after its update'
[ "$(grep -c 'fc1.b\[0\] = .* printed 9, ' "$out")" -eq 1 ] ||
    complain 'the explanation of fc1.b[0] is not beside its slide'
