#!/bin/sh
# package.sh CPACK BUILD VERSION ROOT -- the Debian packages that cpack makes of a build
# tree: what they depend on, and that the program runs from a bare root.
set -eu
cpack=$1
build=$2
version=$3
source=$4
for tool in dpkg dpkg-deb dpkg-shlibdeps readelf; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cpack" --config "$build/CPackConfig.cmake" -B "$work" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }

bad=0
complain() {
    echo "$1"
    bad=1
}
field() {
    dpkg-deb -f "$1" "$2"
}
root=$work/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"

for deb in "$work"/*.deb; do
    name=$(field "$deb" Package)
    [ "$(field "$deb" Version)" = "$version" ] ||
        complain "$name: version $(field "$deb" Version), not $version"
    # Every library that a binary needs comes with the package, or with one that
    # Depends names.
    dpkg-deb -x "$deb" "$work/$name"
    depends=$(field "$deb" Depends)
    find "$work/$name" -type f \( -name '*.so' -o -path '*/bin/*' \) |
        while read -r file; do
            readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
        done | sort -u >"$work/needed"
    # The program loads these at run time, pictures' where it was built with them.
    program=$work/$name/usr/bin/lapenna-lab
    [ ! -f "$program" ] || grep -aoE \
        'lib(openblas|freetype|fontconfig)\.so\.[0-9]+' "$program" |
        sort -u >>"$work/needed"
    while read -r library; do
        # Where a link leads to is another package's (libopenblas0-pthread), which
        # provides the one that is named (libopenblas0).
        path=$(ldconfig -p | sed -n "s|^[[:space:]]*$library .*=> ||p" | head -n 1)
        package=$(dpkg -S "*/$library" "$(readlink -f "$path")" 2>/dev/null |
            sed -n 's/[:,].*//p' | sort -u | grep -v -e -dev -e cross || true)
        found=
        for p in $package; do
            provides=${p%-pthread}
            case ", $depends," in *", $provides "* | *", $provides,"*) found=yes ;; esac
        done
        [ -n "$found" ] ||
            complain "$name needs $library, and Depends has none of: $package"
    done <"$work/needed"
    # dpkg's own unpacking, in a root where nothing else is.
    dpkg --root="$root" --force-depends --force-not-root --force-bad-path \
        --log=/dev/null --unpack "$deb" >"$work/log" 2>&1 ||
        { complain "dpkg does not unpack $name"; cat "$work/log"; }
done

for file in bin/lapenna-lab share/man/man1/lapenna-lab.1 \
    share/bash-completion/completions/lapenna-lab \
    share/zsh/site-functions/_lapenna-lab share/doc/lapenna-lab/LICENSE \
    share/lapenna-lab/profiles/recorded/h200.db \
    share/lapenna-lab/lessons/data/digits.csv.gz; do
    [ -s "$root/usr/$file" ] || complain "not in the package: /usr/$file"
done
for module in "$build"/lib/lapenna-lab-*.so; do
    [ ! -e "$module" ] || [ -s "$root/usr/lib/lapenna-lab/${module##*/}" ] ||
        complain "not in a package: ${module##*/}"
done
if strings -a "$root/usr/bin/lapenna-lab" | grep -F -e "$build" -e "$source/"; then
    complain "the program names the tree that it was built in"
fi
cd /
program=$root/usr/bin/lapenna-lab
"$program" --version | grep -qF "$version" || complain "--version"
"$program" lesson list --json | grep -qF "\"$root/usr/" ||
    complain "lessons are not those of the package"
"$program" step mlp-digits --json | tail -n 1 | grep -q '"type":"end"' ||
    complain "a step does not run"
"$program" doctor | grep -q '^lessons  *ok' || complain "doctor finds no lessons"
exit "$bad"
