# shellcheck shell=sh
# The embedding as a product and as a gather: the same numbers, other work.

# What every step wrote, without names.
written() {
    grep -o '"outputs":.*' "$out" | sed 's/"name":"[^"]*"//g'
}

exits 0 step embedding-product --json --backend cpu
expect_json 'sum(s["flop"] for s in of("step")
     if s["name"] == "fc1.matmul") == 240'
written >product
exits 0 step embedding-gather --json --backend cpu
expect_json 'sum(s["flop"] for s in of("step")
     if s["name"] == "emb1.gather") == 15' \
    '[o["name"] for s in of("step") for o in s["outputs"]
      if o["name"].startswith("emb1.")] ==
     ["emb1.out", "emb1.out.grad", "emb1.W.grad", "emb1.W"]'
written >gather
[ "$(wc -l <gather)" -eq 6 ] || complain 'not six steps'
cmp -s product gather || complain 'product and gather differ'
