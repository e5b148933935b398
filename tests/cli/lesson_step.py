"""The first iteration of a lesson, for lesson_numbers.py and lesson_counts.py."""
import json
import re
import subprocess


def first_iteration(exe, lesson):
    """The first iteration of a lesson: batch, parameters, the tensors with their shapes,
    and the steps as recorded. --json would print every number of every tensor."""
    text = subprocess.run([exe, "step", lesson, "--backend", "cpu", "--trace", "off",
                           "--db", "first.db"], capture_output=True, text=True, check=True,
                          timeout=300).stdout
    batch = re.search(r", batch (\d+),", text)
    parameters = re.search(r", (\d+) parameters, \d+ steps an iteration", text)
    tensors = [(name, [int(n) for n in shape.split(",") if n]) for name, shape in
               re.findall(r"^    (\S+) \[([\d,]*)\]  ", text, re.M)]
    show = subprocess.run([exe, "profile", "show", "last", "--db", "first.db", "--json"],
                          capture_output=True, text=True, check=True, timeout=60).stdout
    return int(batch[1]) if batch else 1, int(parameters[1]), tensors, [
        row for row in map(json.loads, show.splitlines()) if row["type"] == "step"]
