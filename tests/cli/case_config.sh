# shellcheck shell=sh
# The configuration file: settings and where they come from, defaults of options,
# what the command line overrides, and lines that are wrong.
file=$XDG_CONFIG_HOME/lapenna-lab/config
exits 0 config
expect_stdout 'no settings in'
expect_stdout 'backend       auto'
grep -q '^theme  *auto  *built in$' "$out" || complain 'no default of the theme'
grep -q '^threads  *every core' "$out" || complain 'no default of the threads'
expect_stdout 'key.SCREEN.NEW = KEY'
exits 0 config keys
grep -q "^all  *? F1 h  *all keys of this screen" "$out" || complain 'no key of all'
grep -q "^run  *O  *a kernel's occupancy" "$out" || complain 'no key of a run'
exits 2 config values
mkdir -p "${file%/*}"
cat >"$file" <<'END'
# a comment
theme = light
key.F6 = v
key.home.F12 = d
key.F7 = O
key.run.F7 = T
color.backward = #FF00FF
pane.steps = 40
backend = cpu
variant = dense=blas
variant = nosuch=tiled
seed = 7
json = yes
END
exits 0 config --ascii
expect_json 'len(rows) > 20' 'all(x["type"] == "setting" for x in rows)' \
    '[x["line"] for x in rows if x["name"] == "theme"] == [2]' \
    '[x["value"] for x in rows if x["name"] == "variant"] == ["dense=blas", "nosuch=tiled"]' \
    '[x["value"] for x in rows if x["name"] == "color.backward"] == ["#FF00FF"]' \
    '[x["origin"] for x in rows if x["name"] == "batch"] == ["built in"]' \
    '[x["without"] for x in rows if x["name"] == "batch"] == ["the lesson\u0027s"]'
run config keys
expect_json 'all(x["type"] == "key" for x in rows)' \
    '[x["screen"] for x in rows if x["set"] == "key.home.F12"] == ["home"]' \
    'len([x for x in rows if x["set"] == "key.F6"]) > 1' \
    '[x["set"] for x in rows if x["screen"] == "run" and x["keys"] == "O"] == [None]' \
    '[x["set"] for x in rows if x["screen"] == "stepper" and x["keys"] == "O"] == ["key.F7"]' \
    '[x["screen"] for x in rows if x["set"] == "key.run.F7"] == ["run"]'

# Defaults of options; a target that the network lacks is left out.
exits 0 step mlp-digits --db runs.db
expect_json 'one("run")["seed"] == 7' 'of("step")[0]["variant"] == "blas"'
# What is written comes first.
run step mlp-digits --db runs.db --seed 8 --variant dense=naive
expect_json 'one("run")["seed"] == 8' 'of("step")[0]["variant"] == "naive"'
run step mlp-digits --db runs.db --variant '*=default'
expect_json 'of("step")[0]["variant"] != "blas"'
# json in the file and --csv do not clash, and commands without a seed run.
exits 0 table gpus --csv
grep -q '^{' "$out" && complain 'JSON in spite of --csv'
exits 0 profile list --db runs.db
expect_json
exits 0 lab hello

# A key, and a theme, on the screen.
sed -i '/^json/d' "$file"
play mlp-digits --db runs.db <<'END'
await 60000 next: fc1.matmul
key F6
await 60000 by the fixed table
key Esc F12
await 60000 F12 does nothing here
enter :export seen.svg
await 60000 seen.svg
quit
END
play <<'END'
await 60000 Lessons
key F12
await 60000 variants (cpu)
quit
END
grep -qi '#ff00ff' seen.svg || complain 'the picture has not the colour of the file'

# What is wrong is reported with its line and column, by every command.
wrong() { # LINE COLUMN MESSAGE
    printf '\n%s\n' "$1" >"$file"
    exits 3 config
    expect_stderr "$file:2:$2: $3"
    run step mlp-digits --db runs.db
}
wrong 'no equals sign' 1 '"no equals sign" is not a line NAME = VALUE'
expect_exit 3
wrong 'batch = many' 9 "batch 'many': a whole number from 1 is needed"
expect_exit 3
wrong 'json = maybe' 8 "json 'maybe': use yes or no"
wrong 'precision = fp7' 13 "precision 'fp7': use fp32"
wrong 'variant = dense' 11 "variant 'dense': write NODE=NAME or OP=NAME"
wrong 'output = x' 1 'output is no setting'
wrong 'colour = x' 1 'no setting "colour"'
wrong 'them = dark' 1 'no setting "them": did you mean theme?'
wrong 'theme = pink' 9 "theme 'pink': use auto, dark, light, contrast or terminal"
wrong 'theme = light # c' '9 (a comment needs a line of its own)' "theme 'light # c'"
wrong 'key.nosuch.v = v' 1 '"nosuch.v" is no key'
wrong 'color.forwards = #000000' 1 'no colour "forwards": one of heading key '
wrong 'color.forward = blue' 17 "color.forward 'blue': write #RRGGBB"
wrong 'color.forward = #12345' 17 "color.forward '#12345': write #RRGGBB"
wrong 'key.Nokey = v' 1 '"Nokey" is no key'
wrong 'pane.steps = 900' 14 "pane.steps '900': a whole number from 16 to 80"
wrong 'seed =' 7 'seed has no value'
printf 'theme = dark\ntheme = light\n' >"$file"
exits 3 config
expect_stderr "$file:2:1: theme is set in line 1, too"
printf 'epochs = 2\niterations = 5\n' >"$file"
for how in config 'run mlp-digits --db runs.db'; do
    # shellcheck disable=SC2086 # how is words
    exits 3 $how
    expect_stderr "$file:2:14: iterations and epochs exclude each other"
done
exits 0 run mlp-digits --iterations 1 --backend cpu --db runs.db
rm "$file"
mkdir "$file"
exits 3 config
expect_stderr 'a directory, not a regular file'
rmdir "$file"

# A relative directory is ignored; --help works with a wrong file.
XDG_CONFIG_HOME=relative
mkdir -p relative/lapenna-lab "$HOME/.config/lapenna-lab"
echo 'wrong' >relative/lapenna-lab/config
echo 'seed = 9' >"$HOME/.config/lapenna-lab/config"
run config --json
expect_json '[x["value"] for x in rows if x["name"] == "seed"] == ["9"]'
echo 'wrong' >"$HOME/.config/lapenna-lab/config"
exits 0 run --help
