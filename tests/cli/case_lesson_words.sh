# shellcheck shell=sh
# Texts and screens of all lessons agree: names, letters, phases, numbers.
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/lesson_words.py" "$LAB_EXE" \
    "$LAB_SOURCE_DIR/lessons" >"$out" 2>"$err" ||
    complain 'a text does not fit its screen'
# Under sanitizers every lesson is walked, above; numbers are the same in every build.
if [ "${LAB_SANITIZE:-OFF}" = OFF ]; then
    "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/lesson_numbers.py" "$LAB_EXE" \
        "$LAB_SOURCE_DIR/lessons" >"$out" 2>"$err" ||
        complain 'a text prints another number than the program'
    "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/lesson_counts.py" "$LAB_EXE" \
        "$LAB_SOURCE_DIR/lessons" >"$out" 2>"$err" ||
        complain 'a text names a count that its lesson does not have'
fi
