# lacking.db: runs of every kind that lack something, and a whole one.
for run in 1 2 3 4 5 6 7; do
    sample run lacking.db
done
sample lab lacking.db
sample lab lacking.db
sample traced_lab lacking.db
without() { # kernels|steps RUN SET
    [ "$1" = kernels ] || echo "DELETE FROM step WHERE runId = $2;"
    echo "DELETE FROM op_kernel WHERE runId = $2;
        DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE runId = $2;
        DELETE FROM time_sum WHERE runId = $2;
        UPDATE run SET summed = NULL, kernelRowFirst = 1, kernelRowLast = 0, $3
        WHERE id = $2;"
}
sql lacking.db "$(
    without steps 1 "kind = 'lab'"
    echo "INSERT INTO sweep_row (runId, place) VALUES (1, 0);"
    without steps 2 "lesson = 'rnn-fibonacci'"
    without steps 3 "status = 'cancelled'"
    without steps 4 "status = 'running', hostname = 'elsewhere'"
    echo "DELETE FROM step WHERE runId = 5; DELETE FROM time_sum WHERE runId = 5;
        UPDATE run SET kind = NULL, summed = NULL WHERE id = 5;"
    without kernels 6 "backend = 'cpu'"
    without kernels 7 "traceState = 'never'"
    echo "UPDATE run SET status = 'interrupted' WHERE id = 9;"
)"
. ./each.sh
