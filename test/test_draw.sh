#!/usr/bin/env bash
# Pictures: `drystone draw` and `drystone plot` make PNG files of the size asked for, the same every time, and say clearly
# what is wrong with bad arguments. Usage: bash test_draw.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"

# Width and height in a PNG's header, or "none" where it is no complete PNG.
png_size() {
  local head tail
  head=$(od -An -v -tu1 -N24 "$1" 2>/dev/null | tr -s ' \n' ' ')
  tail=$(tail -c 8 "$1" 2>/dev/null | od -An -v -tu1 | tr -s ' \n' ' ')
  case "$head" in
    ' 137 80 78 71 13 10 26 10 '*) ;;
    *) echo none; return ;;
  esac
  case "$tail" in *'174 66 96 130'*) ;; *) echo none; return ;; esac
  # shellcheck disable=SC2086
  set -- $head
  echo "$((${17} * 16777216 + ${18} * 65536 + ${19} * 256 + ${20}))x$((${21} * 16777216 + ${22} * 65536 + ${23} * 256 + ${24}))"
}

# good SIZE FILE ARGUMENTS...: succeeds, says nothing, and leaves a picture of that size
good() {
  local size=$1 file=$2 status found
  shift 2
  "$program" "$@" >out.txt 2>err.txt
  status=$?
  found=$(png_size "$file")
  if [ $status -eq 0 ] && [ "$found" = "$size" ] && [ ! -s err.txt ]; then
    ok
  else
    fail "$* : status $status, picture $found, wanted $size; $(cat err.txt)"
  fi
}

# bad TEXT ARGUMENTS...: exits with 2, one line on stderr that holds the text, and no picture x.png
bad() {
  local text=$1 status
  shift
  rm -f x.png
  "$program" "$@" >out.txt 2>err.txt
  status=$?
  if [ $status -eq 2 ] && grep -qF -- "$text" err.txt && [ "$(wc -l <err.txt)" -eq 1 ] && [ ! -e x.png ]; then
    ok
  else
    fail "$* : status $status, wanted 2 and '$text'; $(cat err.txt)"
  fi
}

same() {
  if cmp -s "$1" "$2"; then ok; else fail "$1 and $2 differ"; fi
}
differ() {
  if cmp -s "$1" "$2"; then fail "$1 and $2 are the same"; else ok; fi
}

# --- scenes at their start: every shape, ground, ramp, no ground ---
small="--size 96x54"
for scene in card-house arch incline wall "pile:count=30" spin dominoes; do
  # shellcheck disable=SC2086
  good 96x54 s.png draw "$scene" -o s.png $small
done
good 1280x720 d.png draw card-pair -o d.png
good 1x1 t.png draw card-pair -o t.png --size 1x1
good 30x400 t.png draw card-pair -o t.png --size 30x400
# shellcheck disable=SC2086
{
  good 96x54 a.png draw arch -o a.png $small
  good 96x54 b.png draw arch -o b.png $small
  good 96x54 dark.png draw arch -o dark.png $small --dark
  good 96x54 side.png draw arch -o side.png $small --view=-90,5
  good 96x54 near.png draw arch -o near.png $small --zoom 3
  good 96x54 far.png draw arch -o far.png $small --zoom 0.3
  good 96x54 look.png draw arch -o look.png $small --look 0.5,0,0.2
  good 96x54 below.png draw arch -o below.png $small --view 30,-20
  good 96x54 inside.png draw arch -o inside.png $small --look 0,0,0.5 --zoom 100
  good 96x54 rows.png draw wall:rows=3 -o rows.png $small --set bodies.1.color=[0.2,0.4,0.8]
}
same a.png b.png
for other in dark side near far look below; do differ a.png $other.png; done
if ls ./*.tmp* >/dev/null 2>&1; then fail "temporary files are left"; else ok; fi

# a scene without bodies
echo '{"drystone": 1, "bodies": []}' >empty.json
"$program" draw empty.json -o e.png $small >out.txt 2>err.txt
status=$?
if [ $status -eq 0 ] || [ $status -eq 2 ]; then ok; else fail "empty scene: status $status"; fi

# --- recordings ---
if "$program" run card-house:levels=2 --time 0.2 -o run.h5 -q >out.txt 2>err.txt; then ok; else fail "run: $(cat err.txt)"; fi
# shellcheck disable=SC2086
{
  good 96x54 r.png draw run.h5 -o r.png $small
  good 96x54 r0.png draw run.h5 -o r0.png $small --time 0
  good 96x54 r1.png draw run.h5 -o r1.png $small --time 0.1 --contacts
  bad "the recording has times from" draw run.h5 -o x.png $small --time 7
  bad "the recording has times from" draw run.h5 -o x.png $small --time=-1
}
good 1280x1020 p.png plot run.h5 -o p.png
good 1280x1020 p2.png plot run.h5 -o p2.png
same p.png p2.png
good 1280x1020 pp.png plot run.h5 run.h5 -o pp.png --dark
expect 0 "" plot run.h5 -o p.svg
expect 0 "" plot run.h5 -o P2.SVG
expect 0 "" plot run.h5 -o p.pdf
expect 0 "" draw run.h5 --contacts -o d.pdf --size 320x180
expect 0 "" draw run.h5 --contacts -o d.svg --size 320x180
expect 0 "" draw run.h5 --contacts -o d.png --size 320x180
expect 0 "" draw run.h5 --contacts -o long.png --size 320x180 --force-scale 1
if cmp -s d.png long.png; then fail "--force-scale changes nothing"; else ok; fi
if command -v python3 >/dev/null; then
  check "pictures as vectors: an image with paths on it; PDF whose objects are where its table says" python3 - <<'END'
import base64, re, xml.etree.ElementTree as tree, zlib
root = tree.parse("d.svg").getroot()
space = "{http://www.w3.org/2000/svg}"
image = root.find(f".//{space}image").attrib["href"]
assert base64.b64decode(image.partition(",")[2])[:8] == b"\x89PNG\r\n\x1a\n"
assert len(root.findall(f".//{space}path")) > 10
for name, images, size in (("p.pdf", 0, (1280, 1020)), ("d.pdf", 1, (320, 180))):
    data = open(name, "rb").read()
    start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", data).group(1))
    offsets = [int(x) for x in re.findall(rb"(\d{10}) 00000 n ", data[start:])]
    assert data[start:].startswith(b"xref") and len(offsets) == 5
    for number, offset in enumerate(offsets, 1):
        assert data[offset:].startswith(b"%d 0 obj" % number), (name, number)
    assert b"/MediaBox [0 0 %d %d]" % size in data and data.count(b"/Subtype /Image") == images
    stream = re.search(rb"/Length (\d+) >>\nstream\n", data[offsets[3]:])
    at = offsets[3] + stream.end()
    content = zlib.decompress(data[at:at + int(stream.group(1))]).decode()
    assert content.count(" l\n") > 40
    assert len(re.findall(r"\bq\b", content)) == len(re.findall(r"\bQ\b", content))
    assert content.count("S\n") > 10 and "nan" not in content
END
fi
command -v pdftoppm >/dev/null && check "PDF as poppler reads it" pdftoppm -r 20 -png d.pdf d_pdf
check "SVG is the same every time" cmp p.svg P2.SVG
check "SVG begins as SVG does" grep -q '^<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="1020"' p.svg
if command -v python3 >/dev/null; then
  check "SVG is well formed, with many paths and no number missing" python3 - <<'END'
import xml.etree.ElementTree as tree
root = tree.parse("p.svg").getroot()
paths = root.findall(".//{http://www.w3.org/2000/svg}path")
assert root.tag.endswith("svg") and len(paths) > 50, len(paths)
assert not any(word in open("p.svg").read() for word in ("nan", "inf")), "not a number"
END
fi
good 700x500 q.png plot run.h5 -o q.png --size 700x500 --what ms,speed
good 40x30 q.png plot run.h5 -o q.png --size 40x30
good 1280x1880 all.png plot run.h5 -o all.png \
  --what energy,contacts,residual,iterations,natural_error,speed,penetration,ms

# --- meshes and solids ---
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >tet.obj
head -n 7 tet.obj >open.obj
# shellcheck disable=SC2086
{
  good 96x54 m.png draw tet.obj -o m.png $small
  good 96x54 m2.png draw tet.obj -o m2.png $small
  good 96x54 open.png draw open.obj -o open.png $small --dark
  good 96x54 king.png draw figure:king -o king.png $small --view=-30,10
  good 96x54 mm.png draw tet.obj -o mm.png $small --scale 0.001
}
same m.png m2.png
differ m.png open.png
cat >many.json <<'END'
{"drystone": 1, "time": 0.02, "solids": {"tet": {"file": "tet.obj"}, "pawn": {"figure": "pawn", "scale": 10}}, "bodies": [
 {"kind": "static", "shapes": [{"kind": "half-space"}]},
 {"position": [0, 0, 0.001], "shapes": [{"kind": "solid", "solid": "tet"}]},
 {"position": [2, 0, 0.001], "shapes": [{"kind": "solid", "solid": "pawn"}]},
 {"position": [3, 0, 0.001], "shapes": [{"kind": "solid", "solid": "pawn"}]}]}
END
# shellcheck disable=SC2086
good 96x54 many.png draw many.json -o many.png $small
if "$program" run many.json -o solid.h5 -q >out.txt 2>err.txt; then ok; else fail "run: $(cat err.txt)"; fi
rm many.json
mv tet.obj moved.obj
# shellcheck disable=SC2086
good 96x54 recorded.png draw solid.h5 -o recorded.png $small --contacts
mv moved.obj tet.obj
bad "a mesh has no contacts" draw tet.obj -o x.png --contacts
bad "a mesh has no joints" draw tet.obj -o x.png --joints
# shellcheck disable=SC2086
good 96x54 bare.png draw bridge:planks=3,blocks=0 -o bare.png $small
# shellcheck disable=SC2086
good 96x54 joints.png draw bridge:planks=3,blocks=0 -o joints.png $small --joints
differ bare.png joints.png
bad "a mesh has no times" draw tet.obj -o x.png --time 1
bad "a mesh has no settings" draw tet.obj -o x.png --set a=1
bad "--scale is for meshes" draw wall -o x.png --scale 2
bad "none.stl" draw none.stl -o x.png
bad "did you mean king?" draw figure:kig -o x.png
printf 'v 0 0 0\n' >points.obj
bad "points.obj" draw points.obj -o x.png
printf 'v 0 0 0\nv 1 0 0\nf 1 2 9\n' >index.obj
bad "index.obj" draw index.obj -o x.png

# --- bodies left out: as if they were not in the scene, in bytes ---
# put NAME BODY...: a scene of a floor, a box and these bodies
put() {
  local file=$1 body
  shift
  {
    echo '{"drystone": 1, "time": 0.02, "bodies": [{"name": "floor", "kind": "static", "shapes": [{"kind": "half-space"}]}'
    for body in '"name": "box", "position": [0, 0, 0.1], "shapes": [{"kind": "box", "size": [0.2, 0.2, 0.2]}]' "$@"; do
      echo ", {$body}"
    done
    echo ']}'
  } >"$file"
}
ball='"name": "ball", "position": [0.3, 0.2, 0.2], "shapes": [{"kind": "sphere", "radius": 0.2, "density": 5000}]'
wall1='"name": "wall1", "kind": "static", "position": [0, 0.4, 0.3], "shapes": [{"kind": "box", "size": [2, 0.1, 0.6]}]'
wall2='"name": "wall2", "kind": "static", "position": [0, -0.4, 0.3], "shapes": [{"kind": "box", "size": [2, 0.1, 0.6]}]'
put box.json
put ball.json "$ball"
put walls.json "$wall1" "$wall2"
put front.json "$wall1"
# shellcheck disable=SC2086
{
  good 96x54 box.png draw box.json -o box.png $small
  good 96x54 front.png draw front.json -o front.png $small
  good 96x54 walls.png draw walls.json -o walls.png $small
  for names in wall1,wall2 'wall*' 'wall2,w*'; do
    good 96x54 hide.png draw walls.json -o hide.png $small --hide "$names"
    same hide.png box.png
  done
  good 96x54 hide.png draw walls.json -o hide.png $small --hide wall1 --hide wall2
  same hide.png box.png
  good 96x54 hide.png draw walls.json -o hide.png $small --hide=wall2
  same hide.png front.png
  good 96x54 ball.png draw ball.json -o ball.png $small
  good 96x54 hide.png draw ball.json -o hide.png $small --hide ball
  same hide.png box.png
  good 96x54 hide.png draw box.json -o hide.png $small --hide floor
  differ hide.png box.png
  good 96x54 hide.png draw box.json -o hide.png $small --hide '*'
  for name in box ball; do
    if "$program" run $name.json -o $name.h5 -q >out.txt 2>err.txt; then ok; else fail "run: $(cat err.txt)"; fi
    good 96x54 $name-contacts.png draw $name.h5 -o $name-contacts.png $small --contacts
  done
  good 96x54 hide.png draw ball.h5 -o hide.png $small --hide ball --contacts
  same hide.png box-contacts.png
}
differ walls.png box.png
differ ball.png box.png
differ ball-contacts.png box-contacts.png
bad "no body is named 'wal1'; did you mean wall1? 'drystone info --all walls.json' lists the names" \
  draw walls.json -o x.png --hide wal1
bad "no body is named 'wall'" draw walls.json -o x.png --hide box,wall
bad "no body is named 'wa*l'" draw walls.json -o x.png --hide 'wa*l'
bad "no body has a name like 'ball*'" draw box.h5 -o x.png --hide 'ball*'
bad "is empty" draw walls.json -o x.png --hide wall1,,wall2
bad "is empty" draw walls.json -o x.png --hide ""
bad "a mesh has no bodies to hide" draw tet.obj -o x.png --hide a

# --- what is framed: a track that reaches far away is, a floor or a whole country is not. All lie below the ground, out
# of sight, so that a longer one changes the picture only where it is framed ---
for size in 6 8; do
  slab='"kind": "static", "shapes": [{"kind": "box", "size"'
  put track$size.json "$slab: [$size, 0.1, 0.5], \"position\": [$((size / 2)), 0, -1]}]"
  put floor$size.json "$slab: [$size, $size, 0.5], \"position\": [0, 0, -1]}]"
  put country$size.json "$slab: [${size}00, 0.1, 0.5], \"position\": [$((size / 2))00, 0, -1]}]"
  # shellcheck disable=SC2086
  for name in track floor country; do good 96x54 $name$size.png draw $name$size.json -o $name$size.png $small; done
done
differ track6.png track8.png
same floor6.png floor8.png
same country6.png country8.png

# --- what is wrong ---
bad "give the output file" draw wall
bad "give one recording" draw -o x.png
bad "not several" draw wall arch -o x.png
bad "did you mean wall" draw wal -o x.png
bad "none.json" draw none.json -o x.png
bad "expected WIDTHxHEIGHT" draw wall -o x.png --size 0x100
bad "each from 1 to 16384" draw wall -o x.png --size 16385x100
bad "expected WIDTHxHEIGHT" draw wall -o x.png --size 100
bad "expected WIDTHxHEIGHT" draw wall -o x.png --size 100x100x3
bad "expected WIDTHxHEIGHT" draw wall -o x.png --size -5x20
bad "expected WIDTHxHEIGHT" draw wall -o x.png --size 99999999999999999999x20
bad "AZIMUTH,ELEVATION" draw wall -o x.png --view 10
bad "AZIMUTH,ELEVATION" draw wall -o x.png --view 10,95
bad "X,Y,Z" draw wall -o x.png --look 1,2
bad "X,Y,Z" draw wall -o x.png --look 1,nan,2
bad "--zoom" draw wall -o x.png --zoom 0
bad "run it and draw the recording" draw wall -o x.png --time 3
bad "run it and draw the recording" draw wall -o x.png --contacts
bad "cannot write" draw wall -o no/such/folder/x.png --size 32x32
mkdir -p a_folder
bad "cannot write" draw wall -o a_folder --size 32x32
bad "overwritten" draw run.h5 -o run.h5
bad "overwritten" plot run.h5 -o run.h5
bad "ends in .png, .svg or .pdf" plot run.h5 -o x.jpg
bad "ends in .png, .svg or .pdf" plot run.h5 -o x.png.gz
bad "is for --contacts" draw run.h5 -o x.png --force-scale 1
bad "--force-scale" draw run.h5 -o x.png --contacts --force-scale 0
bad "ends in .png" draw run.h5 -o x.jpeg
bad "cannot be read" plot none.h5 -o x.png
bad "is not a recording" plot empty.json -o x.png
bad "is unknown" plot run.h5 -o x.png --what nonsense
bad "did you mean energy" plot run.h5 -o x.png --what enrgy
bad "twice" plot run.h5 -o x.png --what ms,ms
bad "the value is empty" plot run.h5 -o x.png --what ""
bad "expected WIDTHxHEIGHT" plot run.h5 -o x.png --size big
bad "give the output file" plot run.h5
bad "give one to" plot -o x.png
head -c 3000 run.h5 >cut.h5
bad "cut.h5" draw cut.h5 -o x.png
bad "cut.h5" plot cut.h5 -o x.png
# an older picture survives a failure
cp a.png x_old.png
"$program" draw none.json -o x_old.png >out.txt 2>err.txt
same a.png x_old.png
# a full disk
if [ -w /dev/full ]; then bad "cannot write" draw arch -o /dev/full --size 64x64; fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
