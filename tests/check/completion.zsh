#!/usr/bin/env zsh
# completion.zsh BUILD -- what zsh makes of a few beginnings after Tab. A program
# of its own stands in for lapenna-lab, as in completion.sh.
emulate -R zsh
zmodload zsh/zpty zsh/datetime || exit 77
build=$1
work=$(mktemp -d) || exit 1
trap 'zpty -d z 2>/dev/null; rm -rf $work' EXIT
cat >$work/lapenna-lab <<'END'
#!/bin/sh
case "$*" in
'lesson list --json')
    echo '{"type":"lesson","id":"mlp-digits","kind":"lesson","title":"A"}'
    echo '{"type": "lesson", "id": "softmax", "kind": "lesson"}'
    ;;
'lab --list --json') echo '{"type":"operation","lab":"gemm","title":"C"}' ;;
'profile list --json') echo '{"type":"run","run":17,"lesson":"softmax"}' ;;
*) exit 2 ;;
esac
END
chmod +x $work/lapenna-lab
cat >$work/.zshrc <<END
cd $work
path=($work \$path)
fpath=($build/share/zsh/site-functions \$fpath)
autoload -Uz compinit && compinit -u -D
unsetopt auto_list auto_menu beep
report() { print -r -- "\$BUFFER" >>$work/made; BUFFER=; }
zle -N report
bindkey '^Xp' report
print ready >>$work/made
END
: >$work/made
ZDOTDIR=$work HOME=$work TERM=xterm zpty z zsh -d -i

# lines N: waits until `made` has so many; what the shell writes is dropped.
lines() {
    local until=$((EPOCHREALTIME + 30)) text
    while (($(wc -l <$work/made) < $1 && EPOCHREALTIME < until)); do
        zpty -r -t z text || sleep 0.02
    done
    (($(wc -l <$work/made) >= $1))
}

lines 1 || { echo 'zsh does not start'; exit 1; }
bad=0
count=1
# makes TYPED WANTED: the line after Tab.
makes() {
    zpty -w -n z "$1"$'\t\x18p'
    ((count++))
    lines $count || { echo "no answer to '$1'"; exit 1; }
    local got="$(tail -n 1 $work/made)"
    [[ $got == $2 ]] || { echo "'$1' becomes '$got', not '$2'"; bad=1; }
}

makes 'lapenna-lab prof' 'lapenna-lab profile '
makes 'lapenna-lab ml' 'lapenna-lab mlp-digits '
makes 'lapenna-lab --see' 'lapenna-lab --seed='
makes 'lapenna-lab run --see' 'lapenna-lab run --seed='
makes 'lapenna-lab run mlp-digits --ep' 'lapenna-lab run mlp-digits --epochs='
makes 'lapenna-lab run ml' 'lapenna-lab run mlp-digits '
makes 'lapenna-lab --seed 3 run --lr=0.1 ml' \
    'lapenna-lab --seed 3 run --lr=0.1 mlp-digits '
makes 'lapenna-lab step so' 'lapenna-lab step softmax '
makes 'lapenna-lab run --backend=cu' 'lapenna-lab run --backend=cuda '
makes 'lapenna-lab lesson li' 'lapenna-lab lesson li'
makes 'lapenna-lab lesson sh' 'lapenna-lab lesson show '
makes 'lapenna-lab lesson show so' 'lapenna-lab lesson show softmax '
makes 'lapenna-lab profile vac' 'lapenna-lab profile vacuum '
makes 'lapenna-lab profile show 1' 'lapenna-lab profile show 17 '
makes 'lapenna-lab profile --db x show la' 'lapenna-lab profile --db x show last '
makes 'lapenna-lab profile show 17 --so' 'lapenna-lab profile show 17 --sort='
makes 'lapenna-lab lab ge' 'lapenna-lab lab gemm '
makes 'lapenna-lab lab tune g' 'lapenna-lab lab tune gemm '
makes 'lapenna-lab lab products so' 'lapenna-lab lab products softmax '
makes 'lapenna-lab help doc' 'lapenna-lab help doctor '
exit $bad
