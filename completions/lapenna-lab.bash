# bash completion for lapenna-lab                          -*- shell-script -*-

# The values of one key in the JSON Lines that a command prints.
_lapenna_lab_values() {
    local key=$1 program=$2
    shift 2
    "$program" "$@" --json 2>/dev/null </dev/null |
        sed -n 's/.*"'"$key"'": *"\{0,1\}\([^",}]*\).*/\1/p'
}

_lapenna_lab() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${COMP_WORDS[0]} command='' sub='' word i words=''
    local own=''
    # The script would build before it answers: ask what it has built.
    if [[ ${program##*/} == lab ]]; then
        own='build test clean'
        [[ $program == */* ]] || program=$(type -P lab)
        program=${program%/*}/build/default/bin/lapenna-lab
    fi
    local options='--backend --device --precision --variant --batch
        --iterations --iteration --epochs --seed --lr --data --sample --prompt
        --temperature --top-k --near --counters --db --sort --limit
        --reverse --fail-above --remove --recorded --format --output --force --all --table
        --label --dry-run --sizes --variants --repeat --predict
        --grid --block --at --elements
        --retune --list --chart
        --json --plain --ascii --color --no-mouse --no-graph --graph-nodes --trace
        --npy --tensors --help --usage
        --version'
    local takes='@(--backend|--device|--precision|--variant|--batch'
    takes+='|--iterations|--epochs|--seed|--lr|--data|--near|--counters|--trace|--db|--sort'
    takes+='|--iteration'
    takes+='|--limit|--fail-above|--format|--output|--table|--label|--color'
    takes+='|--sample|--prompt|--temperature|--top-k|--npy|--tensors'
    takes+='|--sizes|--variants|--repeat|--predict'
    takes+='|--grid|--block|--at|--elements)'

    COMPREPLY=()
    # bash makes words of their own of = and what follows it.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # --variant NODE=NAME is three words.
    if [[ $COMP_CWORD -ge 3 && $prev != --variant &&
        ${COMP_WORDS[COMP_CWORD - 3]} == --variant ||
        $COMP_CWORD -ge 2 && $cur == '' && ${COMP_WORDS[COMP_CWORD]} == = &&
        ${COMP_WORDS[COMP_CWORD - 2]} == --variant ]]; then
        prev=--variants
    fi
    case $prev in
    --variant) words='*= dense= conv2d= attention= softmax= layer_norm=' ;;
    --variants) words='naive tiled blocked blas onednn cublas cudnn' ;;
    --backend) words='auto cpu cuda' ;;
    --precision) words='fp32 tf32 bf16 fp16 fp64 all' ;;
    --counters) words='off basic full' ;;
    --trace) words='off kernels on' ;;
    --color) words='auto always never' ;;
    --sort)
        words='index name phase variant count median min max total flop bytes
            gflop_per_s gbyte_per_s kernels row start time step grid block
            registers shared occupancy difference share p'
        ;;
    --format) words='csv jsonl trace nsys html' ;;
    --table) words='all steps kernels losses rungs sweeps said tuned' ;;
    --data | --db | --output | --npy)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
        return
        ;;
    --device | --batch | --iterations | --epochs | --seed | --lr | \
        --sample | --prompt | --temperature | --top-k | \
        --limit | --iteration | --near | --fail-above | --label | \
        --tensors | --sizes | --repeat | --predict | \
        --grid | --block | --at | --elements)
        return
        ;;
    esac
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    if [[ $cur == -* ]]; then
        # shellcheck disable=SC2199 # the words before the cursor
        if [[ " ${COMP_WORDS[*]:1:COMP_CWORD-1} " == *' doctor '* ]]; then
            options='--db --json --plain --ascii --help --usage'
        fi
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        return
    fi

    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        # shellcheck disable=SC2053 # takes is a pattern
        if [[ $word == $takes ]]; then
            [[ ${COMP_WORDS[i + 1]} == = ]] && i=$((i + 1))
            i=$((i + 1))
        elif [[ $word != -* && -z $command ]]; then
            command=$word
        elif [[ $word != -* && -z $sub ]]; then
            sub=$word
        fi
    done
    local files=yes
    case $command:$sub in
    :)
        words="$own lesson step run lab profile doctor help
            $(_lapenna_lab_values id "$program" lesson list)"
        ;;
    lab:)
        words="tune offsets gflops calls batch-size network-size products backward
            $(_lapenna_lab_values lab "$program" lab --list)"
        ;;
    lab:tune)
        words="$(_lapenna_lab_values lab "$program" lab --list)" files=''
        ;;
    lab:batch-size | lab:network-size | lab:products | lab:backward)
        words=$(_lapenna_lab_values id "$program" lesson list)
        ;;
    help:) words='lesson step run lab profile doctor' files='' ;;
    lesson:) words='list show lint' files='' ;;
    profile:) words='list show kernels timeline ceilings roofline compare
        baseline export import merge delete vacuum' files='' ;;
    step: | run: | lesson:show)
        words=$(_lapenna_lab_values id "$program" lesson list)
        ;;
    lesson:lint | profile:import | profile:merge) ;;
    profile:show | profile:kernels | profile:timeline | profile:roofline | \
        profile:compare | profile:export | profile:delete)
        words="last $(_lapenna_lab_values run "$program" profile list)" files=''
        ;;
    *) files='' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    if [[ -n $files ]]; then
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}

# `lab`, and with it ./lab: the script of the source tree.
complete -F _lapenna_lab lapenna-lab lab
