#!/bin/sh
# docs.sh ROOT -- docs/README.md names every page, and every path in backquotes in
# README.md, CONTRIBUTING.md and docs/ is there. CONTRIBUTING.md states how many files
# each worked example touches. A path with <, *, or a word in
# capitals stands for several and is not looked up. A link within a page has its heading.
# README.md and CHANGELOG.md state how many lessons and labs there are.
# Each row of docs/terminal.md has a test. The picture of the modules in
# docs/architecture.md has the edges of tests/check/edges.sh.
set -eu
cd "$1"
bad=0
complain() {
    echo "$1"
    bad=1
}
for page in docs/*; do
    name=${page##*/}
    [ "$name" = README.md ] || grep -qF "($name)" docs/README.md ||
        complain "docs/README.md does not name $name"
done
count=0
for page in README.md CONTRIBUTING.md docs/*.md; do
    # shellcheck disable=SC2016 # backquotes of Markdown
    for path in $(grep -oE '`(src|kernels|tests|docs|lessons|profiles|cmake|bench|completions)/[^` ]*`' \
        "$page" | tr -d '`' | sort -u); do
        case $path in
        *[A-Z\<*]* | *...*) [ -e "$path" ] || continue ;;
        esac
        count=$((count + 1))
        [ -e "${path%%:*}" ] || complain "$page: no such file: $path"
    done
done
# How many lessons ship; of the changelog the section that is not released.
lessons=$(find lessons -maxdepth 1 -name '*.md' | wc -l)
labs=$(grep -l '^kind: lab' lessons/*.md | wc -l)
grep -qF "| $labs labs (" README.md || complain "README.md: there are $labs labs"
stated=$(sed '/^## [0-9]/,$d' CHANGELOG.md | grep -oE '[0-9]+ lessons, [0-9]+ of them labs' || true)
[ "${stated:-$lessons lessons, $labs of them labs}" = "$lessons lessons, $labs of them labs" ] ||
    complain "CHANGELOG.md: $stated, not $lessons and $labs"
# A link within a page has its heading.
for page in README.md CONTRIBUTING.md docs/*.md; do
    headings=$(sed -n 's/^##* //p' "$page" | tr '[:upper:]' '[:lower:]' |
        sed 's/[^a-z0-9_ -]//g; s/ /-/g')
    missing=$(grep -oE '\]\(#[^)]*\)' "$page" | sed 's/](#//; s/)$//' |
        while read -r link; do
            echo "$headings" | grep -qxF -- "$link" || echo "#$link"
        done)
    [ -z "$missing" ] || complain "$page has no heading for $missing"
done
# A header as the code includes it; a row "`FILE`: `NAME`, `NAME`" names functions.
for page in README.md CONTRIBUTING.md docs/*.md; do
    # shellcheck disable=SC2016 # backquotes of Markdown
    for path in $(grep -oE '`[a-z]+/[a-z_]+\.h`' "$page" | tr -d '`' | sort -u); do
        [ -e "$path" ] || [ -e "src/${path%%/*}/include/$path" ] ||
            [ -e "kernels/$path" ] || complain "$page: no such header: $path"
    done
done
# shellcheck disable=SC2016 # backquotes of Markdown
missing=$(grep -oE '`src/[^`]*\.c`: `.*`' docs/architecture.md | tr -d '`:,' |
    while read -r path names; do
        for name in $names; do
            grep -qw "$name" "$path" || echo "$path has no $name"
        done
    done)
[ -z "$missing" ] || complain "docs/architecture.md: $missing"
# The files of a worked example, those of its tests left out: "5", and of one with a
# second part "2 4".
for page in docs/add-*.md; do
    touched=$(awk '
    function part_end() { if (n) printf "%s%d", parts++ ? " " : "", n; n = 0; split("", seen) }
    function touch(path) { if (path !~ /^tests\//) n += !seen[path]++ }
    /^```/ { block = !block }
    /^## / && !block { part_end() }
    /^```[a-z]* file=/ { sub(/.* file=/, ""); touch($0) }
    /^\+\+\+ b\// && block { touch(substr($2, 3)) }
    END { part_end() }' "$page")
    stated=$(sed -n "s#.*($page) *| \(.*\) |\$#\1#p" CONTRIBUTING.md |
        grep -oE '[0-9]+' | tr '\n' ' ' | sed 's/ $//')
    [ "${touched:-none}" = "$stated" ] ||
        complain "CONTRIBUTING.md: $page touches '$touched' files, not '$stated'"
done
# Each convention of the screens has a test that is there.
conventions=$(sed -n 's/^| [0-9]* | .* | \(.*\) |$/\1/p' docs/terminal.md)
[ "$(echo "$conventions" | wc -l)" -eq 28 ] ||
    complain 'docs/terminal.md has not 28 rows with tests'
for name in $conventions; do
    case $name in
    cli_*) [ -e "tests/cli/case_${name#cli_}.sh" ] ;;
    check_*) [ -e "tests/check/${name#check_}.sh" ] ;;
    screens_tmux) [ -e "tests/ui/$name.sh" ] ;;
    *) grep -rqE "(TEST_CASE(_WITH|_OF)?|FIXTURE_CASE)\(${name}[,)]" tests ;;
    esac || complain "docs/terminal.md: no such test: $name"
done
lessons=$(find lessons -maxdepth 1 -name '[0-9]*.md' | wc -l)
labs=$(find lessons -maxdepth 1 -name '[0-9]*-lab-*.md' | wc -l)
grep -q "^- $lessons lessons, $labs of them labs," CHANGELOG.md ||
    complain "CHANGELOG.md: there are $lessons lessons, $labs of them labs"
grep -q "^| $labs labs " README.md || complain "README.md: there are $labs labs"
[ "$count" -gt 20 ] || complain "only $count paths were found"
allowed=$(sed -n "/^edges='/,/'\$/p" tests/check/edges.sh | tr -d "'" |
    sed 's/^edges=//' | sort)
# shellcheck disable=SC2016 # backquotes of Markdown
drawn=$(sed -n '/^```mermaid/,/^```$/s/^ *\([a-z]*\) --> \([a-z]*\)$/\1 \2/p' \
    docs/architecture.md | grep -v '^cli ' | sort)
[ "$allowed" = "$drawn" ] || complain "docs/architecture.md draws other edges \
than tests/check/edges.sh allows: $(printf '%s\n%s\n' "$allowed" "$drawn" |
    sort | uniq -u | tr '\n' ';')"
echo "$count paths"
exit "$bad"
