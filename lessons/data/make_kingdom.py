#!/usr/bin/env python3
"""Writes kingdom.txt, the little text of the word2vec lessons.

Sentences of our own, put together from patterns. A word's neighbours in the
text say who is royal, who is young, and who is he or she; that is all that
word2vec can know about a word. Always the same text."""
import random

ROYAL = [("king", "he", "his", "him"), ("queen", "she", "her", "her")]
HEIR = [("prince", "he", "his", "him"), ("princess", "she", "her", "her")]
GROWN = [("man", "he", "his", "him"), ("woman", "she", "her", "her")]
YOUNG = [("boy", "he", "his", "him"), ("girl", "she", "her", "her")]
PARENT = [("father", "he", "his", "him"), ("mother", "she", "her", "her")]
CHILD = [("son", "he", "his", "him"), ("daughter", "she", "her", "her")]

ANIMAL = ["dog", "cat", "horse", "cow", "goat"]
FOOD = ["bread", "cheese", "soup", "apples", "cake"]
PLACE = ["market", "river", "forest", "mill", "bridge"]
DAY = ["monday", "friday", "sunday"]
COLOUR = ["red", "green", "blue", "white"]

ADULT = ROYAL + GROWN + PARENT
SMALL = HEIR + YOUNG + CHILD
PALACE = ROYAL + HEIR
VILLAGE = GROWN + YOUNG
ALL = PALACE + VILLAGE + PARENT + CHILD

PATTERNS = [
    # the palace
    (ROYAL, "the {n} sits on {p} throne"),
    (ROYAL, "the {n} rules the land from {p} throne"),
    (ROYAL, "the {n} gives a law to {p} people"),
    (PALACE, "the {n} wears {p} golden crown"),
    (PALACE, "the royal {n} lives in {p} castle"),
    (PALACE, "soldiers guard the {n} in {p} castle"),
    (PALACE, "the people bow when {s} comes , the royal {n}"),
    (HEIR, "one day the young {n} will wear {p} crown"),
    # the village
    (GROWN, "the {n} works in {p} field"),
    (GROWN, "the {n} carries wood to {p} house"),
    (VILLAGE, "the poor {n} lives in {p} small house"),
    (VILLAGE, "the {n} walks from the village to the {place}"),
    (VILLAGE, "on {day} the {n} feeds {p} {animal} in the village"),
    (YOUNG, "the young {n} learns at school with {p} friend"),
    # the family
    (PARENT, "the {n} reads to {p} children"),
    (PARENT, "the {n} teaches {p} child and loves it"),
    (CHILD, "the {n} listens to {p} parents"),
    (CHILD, "the parents love the {n} and teach {o}"),
    # he and she
    (ALL, "{s} is a {n} and {p} coat is {colour}"),
    (ALL, "the {n} says that {s} is hungry"),
    (ALL, "the {n} washes {p} hands and {s} eats {food}"),
    (ADULT, "the old {n} sleeps in {p} chair"),
    (SMALL, "the young {n} plays with {p} toys"),
    (SMALL, "the little {n} sleeps in {p} bed"),
    # the rest of the world
    (None, "the {animal} drinks water at the {place}"),
    (None, "the {colour} {animal} runs to the {place}"),
    (None, "on {day} they sell {food} at the {place}"),
    (None, "{food} and {food2} taste good on {day}"),
    (None, "the {animal} eats grass and the {animal2} sleeps"),
]


def main():
    r = random.Random(1)
    lines = []
    for people, pattern in PATTERNS:
        for n, s, p, o in people or [("", "", "", "")] * 12:
            for _ in range(4 if people else 1):
                food = r.sample(FOOD, 2)
                animal = r.sample(ANIMAL, 2)
                lines.append(pattern.format(
                    n=n, s=s, p=p, o=o, food=food[0], food2=food[1],
                    animal=animal[0], animal2=animal[1],
                    place=r.choice(PLACE), day=r.choice(DAY),
                    colour=r.choice(COLOUR)))
    r.shuffle(lines)
    with open("kingdom.txt", "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
