# shellcheck shell=sh
# A lesson that is wrong: exit 3, and where. Each edit breaks one thing of the
# small lesson; lint, step and run agree.
inline_lesson small

# broken SED-SCRIPT PLACE WORD: the first complaint is at PLACE and states WORD.
broken() {
    sed "$1" small.md >bad.md
    for how in 'lesson lint' step run; do
        # shellcheck disable=SC2086 # how is words
        exits 3 $how bad.md
        expect_stderr "bad.md:$2"
        expect_stderr "$3"
        expect_no_escape
    done
}
broken 's/^seed: 7/sede: 7/' 4:1 seed
broken 's/^seed: 7/seed: seven/' 4:7 seed
broken 's/^seed: 7/seed: 7\nseed: 8/' 5:1 seed
broken 's/op: relu/op: rellu/' 11: relu
broken 's/op: relu/op: lstm/' 11: lstm
broken 's/units: 3/units: 0/' 10: units
broken 's/units: 3/units: 9223372036854775807/' 10: units
broken 's/units: 3/units: three/' 10: units
broken 's/id: fc2/id: fc1/' 12: fc1
broken 's/y: \[0, 1, 1\]/y: [0, 1, 2]/' 8: 'y[2] is 2'
broken 's/y: \[0, 1, 1\]/y: [0, 1]/' 8: 'y is [2]'
broken 's/^loss:/variants: {fc1: cublaas}\nloss:/' 13: "did you mean 'cublas'"
broken 's/\[0.5, 3\]/[0.5]/' 7: x
broken 's/lr: 0.1/lr: .nan/' 14: lr
broken 's/op: sgd/op: sdg/' 14: sgd
broken 's/network:/network: [/' '' ''
broken "s/title: Two/title: $(printf '\377')/" 3: UTF-8

# Escape sequences in a lesson are shown, not sent.
cp small.md escape.md
printf 'Red \033[31m, bell \007, C1 \302\233 31m.\n' >>escape.md
run lesson show escape.md
expect_no_escape
if grep -q "$(printf '\007')" "$out" "$err"; then
    complain "a bell"
fi

for gone in no-such-file.md /; do
    exits 3 step "$gone"
done
: >empty.md
exits 3 lesson lint empty.md
head -c 100 small.md >cut.md
exits 3 lesson lint cut.md
