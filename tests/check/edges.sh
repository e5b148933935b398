#!/bin/sh
# edges.sh ROOT [LINKS] -- every quoted #include under ROOT/src and
# ROOT/kernels, and every link between modules, follows an allowed edge.
#
# A module may use what the modules it may use may use (the headers of engine
# speak of kernels and base). LINKS has a line "target used-target" for each
# link, as CMake knows them. Prints each violation; exit 1 when there is one.
set -eu
root=$1
links=${2:-}
cd "$root"

# docs/design.md, section 4. cli may use everything.
edges='trace base
sim base
kernels base
engine kernels
engine sim
engine base
simcuda engine
simcuda kernels
simcuda sim
cuda engine
cuda kernels
profiler engine
profiler trace
store trace
lesson engine
report store
report profiler
report lesson
debug report
debug sim
bench debug
ui bench'

{
    find src kernels -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o \
        -name '*.def' -o -name '*.inc' | sort | xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' || true
    [ -z "$links" ] || sed 's/^/LINK /' "$links"
} | awk -v edges="$edges" '
function allow(a, b) { ok[a, b] = 1 }
function module_of(path,   parts) {
    split(path, parts, "/")
    return parts[1] == "src" ? parts[2] : parts[1]
}
function exists(path,   line, there) {
    if (path in seen)
        return seen[path]
    there = (getline line < path) >= 0
    close(path)
    seen[path] = there
    return there
}
function complain(text) { print text; bad++ }
# The module that a link target holds. The CUDA module also holds the CUPTI
# part of the profiler, which is checked by its includes.
function target_module(target) {
    if (target == "lapenna-lab") return "cli"
    if (target == "lapenna-lab-cuda") return "cuda"
    if (target ~ /^lab_cuda_kernels/) return "cuda"
    if (target ~ /^(lapenna-lab-sim|lab_sim_kernels)$/) return "simcuda"
    if (target == "lab_onednn") return "kernels"
    if (target ~ /^lab_(ref_f|kernels)/) return "kernels"
    sub(/^lab_/, "", target)
    return target
}
BEGIN {
    n = split(edges, rows, "\n")
    for (i = 1; i <= n; i++) {
        split(rows[i], e, " ")
        allow(e[1], e[2])
        known[e[1]] = known[e[2]] = 1
    }
    known["cli"] = 1
    for (a in known) { allow(a, a); allow("cli", a) }
    for (k in known) for (a in known) for (b in known)
        if (((a, k) in ok) && ((k, b) in ok)) allow(a, b)
}
$1 == "LINK" {
    from = target_module($2); to = target_module($3)
    links++
    if (!(to in known) || !(from in known)) next
    # CUPTI records are trace records.
    if ($2 == "lapenna-lab-cuda" && (("profiler", to) in ok)) next
    if (!((from, to) in ok))
        complain("link: " $2 " (" from ") uses " $3 " (" to ")")
    next
}
{
    file = $0; sub(/:.*/, "", file)
    line = $0; sub(/^[^:]*:/, "", line); sub(/:.*/, "", line)
    inc = $0; sub(/^[^"]*"/, "", inc); sub(/".*/, "", inc)
    from = module_of(file)
    # The one file that hands out what the CUDA module holds, CUPTI included,
    # is wiring, as cli is.
    if (file == "src/cuda/module.c")
        from = "profiler"
    where = file ":" line ": #include \"" inc "\""
    includes++
    dir = file; sub(/\/[^\/]*$/, "", dir)
    if (!(from in known)) { complain(where ": no such module: " from); next }
    first = inc; sub(/\/.*/, "", first)
    path = dir "/" inc
    while (sub(/\/[^\/]+\/\.\.\//, "/", path))
        ;
    if (inc == "labs/labs.def") {
        if (from != "kernels")
            complain(where ": from " from " may not use it")
    } else if (index(inc, "..")) {
        if (module_of(path) != from || !exists(path))
            complain(where ": goes up out of its module")
    } else if (first in known && exists("src/" first "/include/" inc)) {
        if (!((from, first) in ok))
            complain(where ": " from " may not use " first)
    } else if (exists(dir "/" inc) ||
               exists("src/" module_of(file) "/" inc)) {
        # its own, private
    } else if (exists("kernels/" inc)) {
        if (!((from, "kernels") in ok))
            complain(where ": " from " may not use kernels")
    } else {
        complain(where ": neither its own nor a public header of a module")
    }
}
END {
    if (includes == 0) { print "no #include was found"; exit 1 }
    printf "%d includes, %d links, %d forbidden\n", includes, links, bad
    exit bad > 0
}'
