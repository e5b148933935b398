# shellcheck shell=sh
# Two runs of a lab side by side on the screen, as the database has them.
for sizes in 300,700 700; do
    exits 0 lab lab-saxpy --backend cpu --sizes "$sizes" --repeat 20 \
        --variants plain
done

# From a variant of the comparison to the run's own list, at that variant.
play <<'END'
resize 100 30
key r
expect Runs (2)
key End m
expect *1
key Up c
expect Run 2 against run 1
expect plain 300
expect only 1
expect plain 700
absent saxpy 300
key v
expect plain 300
key v
expect Neither run has any.
key v
expect Nodes
expect Neither run has any.
key v v
expect All levels
absent iteration
enter /plain 700
key Enter
expect Run 2 lab-saxpy
expect Kernels of plain 700, forward
key Esc
enter /plain 300
key Enter
expect Run 1 lab-saxpy
expect Kernels of plain 300, forward
enter :quit
END
