#!/bin/sh
# End to end in tmux: what a person sees, job control, and resizing.
# Usage: screens_tmux.sh UI_DEMO GOLDEN_DIR. Exits 77 where tmux is missing.
demo=$1
golden=$2
command -v tmux >/dev/null 2>&1 || exit 77
dir=$(mktemp -d) || exit 1
socket=$dir/socket
unset TMUX LAPENNA_LAB_SCRIPT
LC_ALL=C.UTF-8
NO_COLOR=1 # golden screens are text: colours take the place of lines
export LC_ALL NO_COLOR

tm() { tmux -S "$socket" -f /dev/null "$@"; }
cleanup() {
    tm kill-server 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
    echo "FAILED: $1"
    tm capture-pane -p -t s
    exit 1
}

# Waits until the pane shows (or no longer shows) a text.
await() {
    i=0
    until tm capture-pane -p -t s | grep -qF -- "$1"; do
        i=$((i + 1))
        [ $i -gt 200 ] && fail "no \"$1\""
        sleep 0.1
    done
}
await_gone() {
    i=0
    while tm capture-pane -p -t s | grep -qF -- "$1"; do
        i=$((i + 1))
        [ $i -gt 200 ] && fail "still \"$1\""
        sleep 0.1
    done
}
# tmux keeps no trailing blanks; neither do the golden files.
same() {
    tm capture-pane -p -t s | sed 's/ *$//' >"$dir/screen"
    diff "$golden/$1" "$dir/screen" || fail "the screen is not $1"
}
start() {
    tm new-session -d -s s -x "$1" -y "$2" "PS1='ready> ' exec bash --norc -i"
    tm set-option -g window-size manual >/dev/null
    await 'ready>'
}
type_line() {
    tm send-keys -t s "$1" Enter
}

start 80 24
type_line 'stty -g >'"$dir"'/before; clear'
await 'ready>'
type_line "$demo"
await 'Last runs'
same home_80x24.txt

# A larger terminal, none at all, and back: the same screen.
tm resize-window -t s -x 200 -y 60
await 'numbers of any element put into its formula.'
sleep 0.3
same home_200x60.txt
tm resize-window -t s -x 1 -y 1
sleep 0.3
tm resize-window -t s -x 80 -y 24
await 'Last runs'
sleep 0.3
same home_80x24.txt

# Ctrl-Z gives the shell back, fg the screen, in another size as well.
tm send-keys -t s Down
await '>Activations and their derivatives'
tm send-keys -t s C-z
await 'Stopped'
await_gone 'Last runs'
type_line 'stty -a | grep -qw icanon && stty -a | grep -qw echo && echo sa""ne'
await 'sane'
tm resize-window -t s -x 100 -y 30
type_line fg
await 'Last runs'
await '>Activations and their derivatives'
tm resize-window -t s -x 80 -y 24
sleep 0.3
tm send-keys -t s Up
await '>An MLP on real digits'
same home_80x24.txt

# A stop by a signal that no program can handle, and what another program left on the screen.
pid=$(pgrep -P "$(tm list-panes -t s -F '#{pane_pid}')") || fail 'no process'
kill -STOP "$pid"
await 'Stopped'
type_line fg
await 'Last runs'
sleep 0.3
same home_80x24.txt

# TERM: the exit code, the settings, the screen that was there before.
kill -TERM "$pid"
await_gone 'Last runs'
type_line 'echo "code "$?'
await 'code 143'
type_line 'stty -g >'"$dir"'/after; echo d""one'
await 'done'
cmp "$dir/before" "$dir/after" || fail 'the settings of the terminal changed'

# A bar's item and a row answer to the mouse.
type_line 'clear'
type_line "$demo --mouse"
await 'Last runs'
# Button 1 down and up at column 5, row 8, each number plus 32.
printf '\033[M %%(\033[M#%%(' >"$dir/click"
tm load-buffer "$dir/click"
tm paste-buffer -t s
await 'unknown key "untis"'
printf '\033[M ;8\033[M#;8' >"$dir/click"
tm load-buffer "$dir/click"
tm paste-buffer -t s
await 'Runs (4)'
tm send-keys -t s q q
await 'ready>'

# A console without braille gets blocks.
type_line 'clear'
type_line "TERM=linux $demo"
await 'Last runs'
tm send-keys -t s Enter
await 'BEATS'
tm capture-pane -p -t s | grep -q '▄' || fail 'no blocks'
tm capture-pane -p -t s | LC_ALL=C grep -q "$(printf '\342\240')" &&
    fail 'braille on a console'
tm send-keys -t s C-c
await 'ready>'
type_line 'echo "code "$?'
await 'code 130'
echo 'all as it should be'
