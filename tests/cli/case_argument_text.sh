# shellcheck shell=sh
# What a message quotes of the command line is shown, never sent raw.
bad=$(printf 'x\033]0;title\007y')
for words in "--$bad" "run --$bad" "run x --iterations=$bad" "lesson $bad" \
    "lab x --device=$bad" "lab x --backend=$bad" "lab x --precision=$bad" \
    "profile $bad" "profile list --$bad"; do
    # shellcheck disable=SC2086
    run $words
    [ "$status" -ne 0 ] || complain 'a wrong command line is taken'
    if LC_ALL=C grep -q "$(printf '\033')" "$err"; then
        complain 'an escape sequence is sent to the terminal'
    fi
done
inline_lesson future
sed -i 's/^format: 1/format: 2/' future.md
exits 3 step future.md
