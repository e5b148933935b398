"""tour.py README COLUMNS ROWS [SCREEN] -- README's first five minutes as a script of
keys (see src/ui/shell/ui.c) on a terminal of that size; to the file SCREEN, keys that
lead to the screen README begins with. Every key and command is README's own: a step that names others
than the ones below ends this program with a word about it, so that README and
the tour cannot drift apart."""
import re
import sys

columns, rows = int(sys.argv[2]), int(sys.argv[3])
# A large terminal has a pane for each of the tabs that share one of a small one,
# and the tensors as one writes them from the start.
large = columns >= 200
EXPLAIN = "expect ═ 3 explain" if large else "expect ═[3 explain]"
text = open(sys.argv[1], encoding="utf-8").read()
section = text.split("### The first five minutes\n")[1].split("\nThe screens work")[0]
steps = [re.findall(r"`([^`]+)`", s)
         for s in re.split(r"^\d+\. ", section, flags=re.M)[1:]]

# What a `:` command of step 8 has to show, by its first word.
SHOWS = {
    "break": ["expect breakpoint set"],
    "watch": ["absent no tensor"],
    "run": ["expect next: fc1.W"],
    "explain": ["expect fc1.W.grad[3,5] = sum_n", "expect in double precision"],
    "print": ["expect [x]"],
    "back": ["expect step 11 of 18"],
    "check": ["expect gradient of fc1.W agrees"],
    "seed": ["expect iteration 0   step 0 of 18"],
    "restart": ["expect iteration 0 again, with learning rate 0.05"],
    "help": ["expect Keys of this screen", "key q"],
}


def commands(words):
    lines = []
    for word in words:
        lines += [f"text :{word}", "key Enter", "wait 300"]
        lines += SHOWS[word.split()[0]]
    return lines


TOUR = [
    (["./lab mlp-digits"],
     ["expect Last runs", "expect start here",
      "expect >A network with a hidden layer", "key Enter",
      "expect next: fc1.matmul"]),
    (["s", "D"],
     ["key s", "expect next: fc1.bias", "expect ✓    matmul",
      "expect out [fc1.xW]", "expect Forward.",
      "key D", "expect ┌[fc1]", "key D"]),
    (["2", "e", "y"],
     ["key 2", "key Right", "expect fc1.xW[0,1] = sum_k x[0,k]",
      "expect terms, largest first", "key e", EXPLAIN, "key Enter",
      "expect in [x]", "expect ═ 2 tensor", "key y", "expect out [fc1.xW]",
      "expect fc1.xW[0,1] = sum_k"]),
    (["x", "d", "x", "I", "z", "a"],
     ["key x", "expect in [x]", "key d", "expect 0.5625",
      "key d", "key I", "expect x[<0>,", "key z", "absent 1 steps",
      "absent (█",
      "key z", "expect 1 steps", "key I",
      "key a", "expect fc1.xW 10x16", "key a", "expect 1 steps"]),
    (["n", "f", "c", "r"],
     ["key n", "expect step 2 of 18", "key f", "expect step 3 of 18",
      "expect watch 1", "key f", "expect step 5 of 18", "key c",
      "expect step 6 of 18", "key r", "expect step 5 of 18"]),
    (["v", "r", "s", "4", "o"],
     ["key v", "expect blas", "key Down", "key Enter", "key r",
      "expect step 4 of 18", "key s", "expect step 5 of 18", "key 4",
      "expect variant", "expect memory", "key o", "expect kernels/dense",
      "key q"]),
    (["t", "2", "3", "o", ":lr 0.05", "q"],
     ["key t", "await 120000 done   iteration 4290", "expect loss 0.0",
      "key 2", "expect |gradient|", "key 3", "expect misread", "key o",
      "expect earlier run", "text :lr 0.05", "key Enter",
      "expect the learning rate is 0.05 from the next step on", "key q", "expect step 18 of 18"]),
    ([":", *SHOWS], None),
    (["?", "q"],
     ["key ?", "expect Keys of this screen", "key q", "expect next: fc1.matmul",
      "key q", "expect Last runs", "key q"]),
]

if len(steps) != len(TOUR):
    sys.exit(f"README has {len(steps)} steps, the tour {len(TOUR)}")
def say(lines):
    """What is expected may take a moment on a busy machine."""
    print(re.sub("^expect ", "await 60000 ", "\n".join(lines), flags=re.M))


print(f"resize {columns} {rows}")
for number, (named, (wanted, lines)) in enumerate(zip(steps, TOUR), 1):
    first = [w.split()[0] for w in named] if lines is None else named
    if first != wanted:
        sys.exit(f"step {number} of README names {named}, the tour {wanted}")
    print(f"# step {number}")
    say(commands(named[1:]) if lines is None else lines)

# README's screen, line by line; times and what follows them differ.
SCREEN = ["resize 80 24", "await 60000 next: fc1.matmul"]
for done in range(1, 12):
    SCREEN += ["key s", f"await 60000 step {done} of 18"]
SCREEN += ["text :explain fc2.W.grad[5,8]", "key Enter",
           "await 60000 fc2.W.grad[5,8] = sum_n", "key 3"]
shown = text.split("```\n")[1].splitlines()
for line in shown:
    for part in line.split("│"):
        # A formula is cut where the variant and its time leave it no room.
        part = re.sub(r".{0,8}…  .*$", "", part)
        part = re.sub(r"…?( *[0-9.]+ [num]?s)?$|▼$", "", part.rstrip())
        if part.strip() and "mean" not in part:
            SCREEN.append(f"await 60000 {part}")
if len(sys.argv) > 4:
    with open(sys.argv[4], "w", encoding="utf-8") as keys:
        keys.write("\n".join(SCREEN) + "\nquit\n")
