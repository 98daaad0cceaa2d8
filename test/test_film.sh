#!/usr/bin/env bash
# `drystone film`: arguments, films of all kinds from pictures that a stand-in for Chromium sends, and one by Chromium itself.
# Usage: bash test_film.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
"$program" help film >/dev/null 2>&1 || exit 77 # built without the viewer
export TMPDIR=$folder
set -m # background jobs get signals as a terminal's do
fake=$folder/browser
printf '#!/bin/sh\nexec python3 "%s/test/fake_browser.py" "$@"\n' "$source" >"$fake"
chmod +x "$fake"

"$program" run stack:count=2 --time 0.3 -o run.h5 -q || fail "no recording"
if "$program" view run.h5 --export page 2>&1 | grep -q "not in this program"; then
  echo "skipped: the page is not built"
  exit 77
fi

# --- arguments
expect 2 "give one recording" film
expect 2 "give a recording" film stack -o a.mp4
expect 2 "give the output" film run.h5
expect 2 "would be overwritten" film run.h5 -o run.h5
expect 2 "whose name ends in /" film run.h5 -o out.avi
expect 2 "even sides" film run.h5 -o a.mp4 --size 101x100
expect 2 "did you mean contacts?" film run.h5 -o a.mp4 --show contcts
expect 2 "--size" film run.h5 -o a.mp4 --size big
expect 2 "AZIMUTH,ELEVATION" film run.h5 -o a.mp4 --view 10
expect 2 "X,Y,Z" film run.h5 -o a.mp4 --look 1,2
expect 2 "exclude each other" film run.h5 -o a.mp4 --look 1,2,3 --follow brick
expect 2 "later than" film run.h5 -o a.mp4 --from 2 --to 1
expect 2 "out of range" film run.h5 -o a.mp4 --from 2
expect 2 "no body named 'roof'" film run.h5 -o a.mp4 --follow roof
expect 2 "cannot be written" film run.h5 -o missing/folder/a.mp4
check "no Chromium" bash -c "(PATH=$folder/empty '$program' film run.h5 -o a.mp4 2>&1) | grep -q 'apt-get install chromium'"
check "no ffmpeg" bash -c "PATH=$folder/empty DRYSTONE_BROWSER=/bin/false '$program' film run.h5 -o a.mp4 2>&1 | grep -q 'apt-get install ffmpeg'"
DRYSTONE_BROWSER=/bin/false expect 2 "Chromium ended" film run.h5 -o gone/
export DRYSTONE_BROWSER=$fake

# --- pictures: 0.3 s at 20 a second are 7
expect 0 "7 frames of 64x48" film run.h5 -o pictures/ --size 64x48 --rate 20
check "a file each" test "$(ls pictures/frame-00000[0-6].png | wc -l)" -eq 7
check "whole" test -z "$(ls pictures | grep part)"
expect 0 "3 frames" film run.h5 -o part/ --size 64x48 --rate 20 --from 0.1 --to 0.2
expect 0 "13 frames" film run.h5 -o slow/ --size 64x48 --rate 20 --speed 0.5
FAKE=gone expect 2 "Chromium ended" film run.h5 -o gone.mp4 --size 64x48
FAKE=wrong expect 2 "instead of" film run.h5 -o wrong.mp4 --size 64x48
check "no half film" test ! -e gone.mp4 -a ! -e gone.mp4.part -a ! -e wrong.mp4

# --- an interrupt leaves nothing behind
FAKE=silent "$program" film run.h5 -o silent.mp4 >out.txt 2>err.txt </dev/null &
process=$!
for _ in $(seq 50); do [ -e silent.mp4.part ] && break; sleep 0.1; done
sleep 0.5
kill -INT $process
wait $process
check "interrupted" test $? -eq 130
check "it says so" grep -q interrupted err.txt
check "no half film after an interrupt" test ! -e silent.mp4 -a ! -e silent.mp4.part
check "no profile is left" test -z "$(ls -d "$folder"/drystone-film-* 2>/dev/null)"

if command -v ffmpeg >/dev/null; then
  expect 0 "7 frames" film run.h5 -o a.mp4 --size 64x48 --rate 20
  check "H.264 of 7 pictures" bash -c "ffprobe -v error -show_entries stream=codec_name,pix_fmt,nb_frames -of csv=p=0 a.mp4 | grep -qx h264,yuv420p,7"
  expect 0 "7 frames" film run.h5 -o a.gif --size 64x48 --rate 20
  check "a GIF" bash -c "head -c 6 a.gif | grep -q GIF89a"
  check "its pictures are gone" test ! -e a.gif.pictures -a ! -e a.gif.part
fi

# --- Chromium itself draws
unset DRYSTONE_BROWSER
if [ "${DRYSTONE_TEST_QUICK:-}" != 1 ] && command -v chromium >/dev/null; then
  name=$("$program" info run.h5 --all | awk '$3 == "dynamic" { print $2; exit }')
  expect 0 "2 frames" film run.h5 -o real/ --size 320x180 --rate 10 --show contacts,forces --from 0.15 --to 0.25 --dark \
    --view 40,30 --zoom 2 --follow "$name"
  check "a picture with something in it" test "$(stat -c %s real/frame-000001.png)" -gt 4000
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
