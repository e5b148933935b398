# shellcheck shell=sh
# LC_ALL=C: no byte above 0x7F, whatever the lesson holds; --ascii the same.
inline_lesson small
printf 'A formula: $\\sum_n x_n \\le \\frac{1}{2}$, a word: naïve → done.\n' \
    >>small.md
db=$work/a.db
export LC_ALL=C
for how in '' 'step mlp-digits' 'run small.md' '--plain mlp-digits' \
    '--plain small.md' 'profile list' 'profile show 1'; do
    # shellcheck disable=SC2086 # how is words
    exits 0 $how --db "$db"
    expect_ascii
done
for how in 'lesson show mlp-digits small.md' 'lesson list' doctor; do
    # shellcheck disable=SC2086 # how is words
    exits 0 $how
    expect_ascii
done
# In UTF-8 the same lesson does have such characters.
export LC_ALL=C.UTF-8
run --plain small.md --db "$db"
if ! LC_ALL=C grep -q '[^ -~	]' "$out"; then
    complain "no character beyond ASCII in UTF-8 either"
fi
run --plain small.md --db "$db" --ascii
expect_ascii
run lesson show small.md --ascii
expect_ascii

# A page of HTML has entities for what is beyond ASCII.
sed 's/^title: .*/title: naïve ∑/' small.md >named.md
exits 0 run named.md --backend cpu --iterations 2 --db page.db
run profile export 1 --format html --output - --db page.db
expect_stdout 'naïve ∑'
exits 0 profile export 1 --format html --output - --db page.db --ascii
expect_ascii
expect_stdout 'na&#239;ve &#8721;'
