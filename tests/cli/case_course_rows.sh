# shellcheck shell=sh
# Every row of one part of the course ($COURSE_PART, A to E): its command runs and shows
# the row's figures. A GPU is hidden: with one the labs would be timed, for many minutes;
# without one the recorded runs have to hold the figures. No figure is a time of this
# machine, so that neither load nor sanitizers fail a row.
CUDA_VISIBLE_DEVICES=
export CUDA_VISIBLE_DEVICES
RUN_LIMIT=850
part=${COURSE_PART:?a letter}
run course --json
ids=$(grep -o '"id": *"[^"]*"' "$out" | sed 's/.*"\([^"]*\)"$/\1/' |
    grep "^$part")
count=$(echo "$ids" | wc -l)
# Sanitizers see the same in case_lab.sh, whose product is smaller.
if [ "${LAB_SANITIZE:-OFF}" != OFF ]; then
    ids=$(echo "$ids" | grep -vx B23)
fi
left_out=$((count - $(echo "$ids" | wc -l)))
# shellcheck disable=SC2086 # words
exits 0 course --check $ids --json
expect_json "len(of('row')) + $left_out == {'A': 29, 'B': 36, 'C': 24, 'D': 34, 'E': 14}['$part']" \
    'all(r["checked"] for r in of("row"))' \
    'all(r["state"] in ("works", "needs a GPU", "later") for r in of("row"))' \
    '[r["id"] for r in of("row") if r["state"] == "later"] ==
     [i for i in ("A24", "B22", "B29", "B30", "E06", "E13") if i[0] == of("row")[0]["id"][0]]' \
    'all(r["run"] for r in of("row") if r["state"] == "needs a GPU")'
