# each COMMAND...: of every run of lacking.db (lacking.sh), RUN being its number.
each() {
    for run in 1 2 3 4 5 6 7 8 9 10; do
        echo "run $run"
        lapenna-lab profile "${@//RUN/$run}" --db lacking.db 2>&1 || echo "exit $?"
    done
}
