"""Text and screen of the lessons that can be stepped agree: what a text calls a
tensor, a step or a node is one, the tensor of a letter like dz is named, no
text is the same on the way there and on the way back, and a text that speaks of
the cursor also has the word for a terminal without one.

usage: lesson_words.py PROGRAM LESSONS_DIR [LESSON...]
"""
import glob
import os
import re
import subprocess
import sys

exe, root = sys.argv[1:3]
texts = {}
for name in sorted(glob.glob(f"{root}/[0-9]*.md")):
    with open(name, encoding="utf-8") as f:
        text = f.read()
    if "\nkind: lab\n" not in text:
        texts[os.path.basename(name)[:-3].split("-", 1)[1]] = text
wrong = 0


def complain(lesson, text):
    global wrong
    wrong += 1
    print(f"{lesson}: {text}")


def plain(lesson, lines):
    done = subprocess.run(
        [exe, "--plain", lesson, "--backend", "cpu", "--trace", "off"],
        input="".join(line + "\n" for line in lines), capture_output=True,
        text=True, timeout=300)
    return None if done.returncode == 3 else done.stdout


names = {}  # lesson: its tensors, steps, nodes and their parts
steps = {}


def known(lesson):
    if lesson not in names:
        out = plain(lesson, ["list tensors", "list steps", "list variants"])
        if out is None:  # its data do not ship
            names[lesson] = None
            return None
        have = set()
        count = 0
        for line in out.split("\nNext: ", 1)[-1].splitlines():
            words = line.lstrip("> ").split()
            if words and words[0].isdigit():
                have.add(words[1])
                count += 1
            elif words:
                have.add(words[0])
        names[lesson] = {n for full in have
                         for n in ([full] + [full[:i] for i, c in
                                             enumerate(full) if c == "."])}
        steps[lesson] = count
    return names[lesson]


def check_names(lesson, body):
    """`fc1.W.grad`, `lstm1.z.t` (of any t), `x.grad[0,1]`"""
    cited = [lesson] + [c for c in re.findall(r"\*([a-z0-9-]+)\*", body)
                        if c in texts]
    for name in sorted(set(re.findall(r"`([a-z]\w*(?:\.\w+)+)(?:\[[^`]*\])?`",
                                      body))):
        if re.search(r"\.(txt|md|csv|def|c|cu|h|db|py)$", name):
            continue
        first = re.sub(r"\.t(?=\.|$)", ".0", name)
        # a part without its node: `probs.grad`; `rnn1.sum` is that of each step
        if not any(n in (known(c) or ()) for c in cited for n in (name, first)):
            complain(lesson, f"there is no {name}")


def check_letters(lesson, body):
    used = set()
    body = " ".join(body.split())
    for formula in re.findall(r"\$([^$]*)\$", body):
        used |= set(re.findall(r"(?<![\\A-Za-z])d[A-Za-z]+", formula))
    for letter in sorted(used):
        defined = (rf"\${letter}(?:_\{{?[\w-]+\}}?|\[[^\]$]*\])?\$"
                   r"(?:[^$`]{0,60}`[^`]*\.grad| is not computed)")
        chain = (rf"\${letter}(?:_\w)?\$(?:, \$d\w+\$)*(?: and \$d\w+\$)? are "
                 r"the \w+ columns of `[^`]*\.grad")
        if not re.search(defined, body) and not re.search(chain, body):
            complain(lesson, f"which tensor is {letter}?")


def check_cursor(lesson, body):
    for paragraph in re.split(r"\n\s*\n", body):
        if "cursor" in paragraph and "explain" not in paragraph and \
                "stepper" not in paragraph:
            complain(lesson, "a terminal without a cursor: " +
                     " ".join(paragraph.split())[:60])


def check_phases(lesson):
    out = plain(lesson, ["s"] * steps[lesson])
    seen = {}
    for block in re.split(r"\n(?=\d+\. \S+  \()", out)[1:]:
        step, phase = re.match(r"\d+\. (\S+)  \((\w+)", block).groups()
        text = "\n".join(
            line for line in block.split("\n")[1:] if line and not
            line.startswith(("Next:", "Stopped:", "    ", "Iteration ",
                             "recorded")))
        before = seen.setdefault(text, phase)
        if text and (before == "backward") != (phase == "backward"):
            complain(lesson, f"{step} {phase} has the text of {before}: "
                     f"{text[:50]!r}")


for lesson in sys.argv[3:] or texts:
    body = texts[lesson].split("\n---\n", 1)[1]
    check_letters(lesson, body)
    check_cursor(lesson, body)
    if known(lesson) is not None:
        check_names(lesson, body)
        check_phases(lesson)
sys.exit(wrong > 0)
