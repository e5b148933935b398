# shellcheck shell=sh
# --record keeps the keys of a session, --replay plays them with captions.
play --record kept.keys --backend cpu mlp-digits <<'END'
resize 90 30
await 60000 step 0 of
key s
text :goto fc2.bias
key Enter
wait 50
click 3 5
wheel-down 4 4
caption Over the picture
expect Over the picture
caption
absent Over the picture
quit
END
grep -v -e '^wait' -e '^#' kept.keys >got
cat >want <<'END'
resize 90 30
key s
key :
key g
key o
key t
key o
key Space
key f
key c
key 2
key .
key b
key i
key a
key s
key Enter
click 3 5
wheel-down 4 4
END
cmp -s got want || complain "recorded: $(cat got)"
grep -q '^wait' kept.keys || complain 'no times'

# A file that is there stays as it is.
cp kept.keys before
play_exits 3 --record kept.keys --backend cpu <<'END'
quit
END
cmp -s kept.keys before || complain 'the recording was overwritten'

# Played on a terminal; its size holds, whatever the recording's was.
replay() {
    cat >played.keys
    command=" --replay $* (on a terminal)"
    status=0
    timeout "${RUN_LIMIT:-600}" "${LAB_PYTHON:-python3}" \
        "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" --replay played.keys "$@" \
        >"$out" 2>"$err" </dev/null || status=$?
}
replay --backend cpu mlp-digits <<'END'
resize 200 60
await 60000 step 0 of
caption The first product.
key s
await 60000 step 1 of
quit
END
expect_exit 0
expect_stdout 'The first product.'

# What a recording may not do, and what is none.
replay <<'END'
key s
screen stolen.txt
END
expect_exit 3
expect_stdout 'played.keys:2: a recording that is played writes no files'
[ ! -e stolen.txt ] || complain 'a recording wrote a file'
echo kept >kept.txt
replay --backend cpu mlp-digits <<'END'
await 60000 step 0 of
text :save kept.txt
key Enter
await 60000 save is left out
text :export kept.svg
key Enter
await 60000 export is left out
quit
END
expect_exit 0
grep -q '^kept$' kept.txt || complain 'a recording wrote over a file'
[ ! -e kept.svg ] || complain 'a recording wrote a picture'
replay <<'END'
key s
jump up
END
expect_exit 3
expect_stdout 'played.keys:2: "jump up" is no line of a recording'
exits 2 --replay nothing.keys mlp-digits
exits 2 --record new.keys --plain mlp-digits
[ ! -e new.keys ] || complain 'a recording without a screen'

# Pictures: without a terminal, at the end of a recording, and by `:export`.
cat >short.keys <<'END'
resize 100 30
key s
caption A < B & "C"
END
exits 0 --backend cpu --picture first.svg mlp-digits
exits 0 --backend cpu --picture end.svg --replay short.keys mlp-digits
# Without colour: greys alone, whose parts are close.
exits 0 --backend cpu --color never --picture mono.svg --replay short.keys mlp-digits
"${LAB_PYTHON:-python3}" - end.svg mono.svg <<'END' || complain 'colours of mono.svg'
import re, sys
hues = [{c for c in re.findall("#([0-9a-f]{6})", open(name).read())
         if max(bytes.fromhex(c)) - min(bytes.fromhex(c)) > 16}
        for name in sys.argv[1:]]
assert hues[0] and not hues[1], hues
END
printf 'key t\nawait 60000 done\n' >curve.keys
exits 0 --backend cpu --picture curve.svg --replay curve.keys --iterations 40 mlp-digits
# A recording of a whole session leaves the last screen: its picture is that.
{ cat short.keys; echo 'key q'; } >whole.keys
exits 0 --backend cpu --picture left.svg --replay whole.keys mlp-digits
exits 3 --backend cpu --picture no/left.svg --replay whole.keys mlp-digits
play --backend cpu --cast session.cast mlp-digits <<'END'
resize 80 24
await 60000 step 0 of
key s
text :export shown.svg
key Enter
await 60000 shown.svg
text :export shown.svg
key Enter
await 60000 is there already
text :export shown.gif
key Enter
await 60000 ends in .svg or .png
quit
END
command='the pictures and the asciicast'
"${LAB_PYTHON:-python3}" - >"$out" 2>&1 <<'END' || complain 'see stdout'
import json, xml.etree.ElementTree as tree
try:
    import pyte
except ImportError:
    pyte = None
def read(name, columns, rows, *texts):
    root = tree.parse(name).getroot()
    assert root.get("viewBox") == f"0 0 {columns * 9} {rows * 18}", name
    text = " ".join(e.text for e in root if e.tag.endswith("}text"))
    for t in texts:
        assert t in text, (name, t)
    return {e.get("fill") for e in root if e.tag.endswith("}rect")}
# The digits' heat map has the colours of its scale.
assert len(read("first.svg", 120, 40, "fc1.matmul", "handwritten")) > 20
read("end.svg", 100, 30, "step 1 of", "A", "<", "&", '"C"')
read("left.svg", 100, 30, "step 1 of")
# A curve's characters are placed one by one: fonts have them in another width.
read("curve.svg", 80, 24, "training")
curve = [e.text for e in tree.parse("curve.svg").getroot()
         if e.text and any("\u2800" <= x <= "\u28ff" for x in e.text)]
assert curve and all(len(t) == 1 for t in curve), curve
read("shown.svg", 80, 24, "fc1.matmul")
lines = [json.loads(l) for l in open("session.cast")]
assert lines[0]["version"] == 2 and lines[0]["width"] == 80
assert all(kind == "o" for _, kind, _ in lines[1:])
assert sorted(t for t, _, _ in lines[1:]) == [t for t, _, _ in lines[1:]]
if pyte:
    screen = pyte.Screen(80, 24)
    stream = pyte.Stream(screen)
    for _, _, data in lines[1:]:
        stream.feed(data)
    assert "ends in .svg or .png" in "\n".join(screen.display), screen.display
    assert "fc1" in "\n".join(screen.display)
END

# An asciicast has its theme's colours, the ground among them, and those of another
# theme from when that is taken.
play --backend cpu --theme light --cast light.cast mlp-digits <<'END'
resize 80 24
await 60000 step 0 of
text :theme contrast
key Enter
await 60000 theme contrast
quit
END
command='the colours of light.cast'
"${LAB_PYTHON:-python3}" - >"$out" 2>&1 <<'END' || complain 'see stdout'
import json
frames = [data for _, _, data in map(json.loads, list(open("light.cast"))[1:])]
light, dark = ";48;2;255;255;255m", ";48;2;0;0;0m"
assert light in frames[0] and dark not in frames[0]
last = [f for f in frames if "\x1b[2J" in f][-1]
assert dark in last
END
exits 3 --backend cpu --picture first.svg mlp-digits
exits 2 --backend cpu --picture first.gif mlp-digits
# PNG has text where the program was built with fonts.
run --backend cpu --picture first.png mlp-digits
if "$LAB_EXE" doctor 2>/dev/null | grep -q '^pictures *ok'; then
    expect_exit 0
    [ "$(head -c 8 first.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] ||
        complain 'first.png is no PNG'
    # A terminal with colours and without graphics.
    command='the pixels of shown.png'
    "${LAB_PYTHON:-python3}" - "$LAB_EXE" >"$out" 2>&1 <<'END' || complain 'see stdout'
import fcntl, os, pty, struct, sys, termios, zlib
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execl(sys.argv[1], sys.argv[1], "--backend", "cpu", "mlp-digits")
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
seen, typed = b"", False
while True:
    try:
        seen += os.read(fd, 65536)
    except OSError:
        break
    if b"step 0 of" in seen and not typed:
        os.write(fd, b"s:export shown.png\rq")
        typed = True
assert os.waitpid(pid, 0)[1] == 0
data = open("shown.png", "rb").read()
width, height = struct.unpack(">II", data[16:24])
assert (width, height) == (80 * 9, 24 * 18), (width, height)
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
rows = zlib.decompress(packed)
# Letters cover little of the paper; a heat map covers its rows.
paper = bytes((0x14, 0x17, 0x1c))
drawn = [sum(rows[y * (1 + width * 3) + 1 + x * 3:][:3] != paper
             for x in range(width)) for y in range(height)]
covered = [min(drawn[y:y + 18]) for y in range(0, height, 18)]
assert "#####" in "".join("#" if n > 100 else "." for n in covered), covered
END
else
    expect_exit 4
    expect_stderr "write a .svg"
fi
