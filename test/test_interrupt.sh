#!/usr/bin/env bash
# A run that is interrupted, killed or watched: recording and report stay valid, and the progress line is for terminals only.
# Usage: bash test_interrupt.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"
set -m # background jobs get signals as a terminal's do

# Waits until a recording has frames, at most 20 s.
wait_for() {
  for _ in $(seq 100); do
    frames=$("$program" info "$1" 2>/dev/null | sed -n 's/^frames *\([0-9]*\),.*/\1/p')
    [ "${frames:-0}" -gt 20 ] && return 0
    sleep 0.2
  done
  return 1
}

long=(stack:count=5 --time 1e6 --threads 2)

# --- SIGINT and SIGTERM: the current step is finished or given up, then everything is written
for pair in INT:130 TERM:143; do
  signal=${pair%:*}
  code=${pair#*:}
  "$program" run "${long[@]}" --record $signal.h5 --report $signal.json >out.txt 2>err.txt &
  process=$!
  check "$signal: frames can be read while it runs" wait_for $signal.h5
  kill -$signal $process
  wait $process
  check "$signal: exit code" test $? -eq $code
  check "$signal: it says so" grep -q "interrupted at t = " err.txt
  check "$signal: the summary is there" grep -q "interrupted" out.txt
  check "$signal: the report says so" grep -q '"ended": "interrupted"' $signal.json
  check "$signal: the recording is complete" bash -c "'$program' info $signal.h5 | grep -q complete"
  steps=$(sed -n 's/^  "steps": \([0-9]*\),$/\1/p' $signal.json)
  frames=$("$program" info $signal.h5 | sed -n 's/^frames *\([0-9]*\),.*/\1/p')
  check "$signal: every step is recorded" test "$frames" -eq $((steps + 1))
done

# --- in the middle of a step that would take minutes: a wall hit by a ball, to the last bit. It takes some 40 ms to
# give the step up; the limit is generous, for busy machines.
endless=(wall:rows=12,bricks=10,ball_speed=15 --tol 1e-15 --step-budget 0 --time 5 --threads 2)
# ends_soon PROCESS: within 2 s
ends_soon() {
  for _ in $(seq 100); do
    jobs -rp | grep -qx "$1" || return 0
    sleep 0.02
  done
  return 1
}
for pair in INT:130:1 TERM:143:2.5; do
  IFS=: read -r signal code later <<<"$pair"
  "$program" run "${endless[@]}" --record long.h5 --report long.json >out.txt 2>err.txt &
  process=$!
  for _ in $(seq 100); do
    frames=$("$program" info long.h5 2>/dev/null | sed -n 's/^frames *\([0-9]*\),.*/\1/p')
    [ "${frames:-0}" -ge 1 ] && break
    sleep 0.2
  done
  check "$signal in a long step: it has begun" test "${frames:-0}" -ge 1
  sleep "$later" # the ball arrives in the seventh step
  kill -$signal $process
  if ends_soon $process; then ok; else fail "$signal in a long step: it goes on for more than 2 s"; fi
  wait $process
  check "$signal in a long step: exit code" test $? -eq "$code"
  check "$signal in a long step: it says so" grep -q "interrupted at t = " err.txt
  check "$signal in a long step: the report says so" grep -q '"ended": "interrupted"' long.json
  check "$signal in a long step: the recording is complete" bash -c "'$program' info long.h5 | grep -q complete"
  steps=$(sed -n 's/^  "steps": \([0-9]*\),$/\1/p' long.json)
  frames=$("$program" info long.h5 | sed -n 's/^frames *\([0-9]*\),.*/\1/p')
  check "$signal in a long step: every step that was done is recorded" test "$frames" -eq $((steps + 1))
  check "$signal in a long step: it can be gone on from" \
    "$program" run "${endless[0]}" --from long.h5 --tol 1e-4 --step-budget 5 --time 0.1 -q
done

# --- SIGKILL: what was flushed is readable
"$program" run "${long[@]}" --record kill.h5 --report kill.json >/dev/null 2>&1 &
process=$!
check "KILL: frames while it runs" wait_for kill.h5
before=$frames
kill -KILL $process
wait $process 2>/dev/null
check "KILL: readable" "$program" info kill.h5
check "KILL: marked as not closed" bash -c "'$program' info kill.h5 | grep -q 'not closed'"
frames=$("$program" info kill.h5 | sed -n 's/^frames *\([0-9]*\),.*/\1/p')
check "KILL: no frame is lost that was there" test "$frames" -ge "$before"
check "KILL: no report, rather than half of one" test ! -e kill.json

# --- a new run replaces an unfinished recording
check "over a killed recording" "$program" run stack:count=2 --time 0.1 --record kill.h5 -q
check "complete again" bash -c "'$program' info kill.h5 | grep -q complete"

# --- a full disk, as a limit on the size of files: a reason, no crash, and what was flushed is readable
limited() { # limited KILOBYTES ARGUMENTS...
  local size=$1
  shift
  (ulimit -f "$size" && exec timeout 60 "$program" "$@") >out.txt 2>err.txt
}
for size in 5 30 100 500; do
  limited $size run pile:count=30 --time 1e3 --record full.h5 -q
  check "full at $size kB: exit code" test $? -eq 2
  check "full at $size kB: the reason" grep -q "recording full.h5: cannot be .*: File too large" err.txt
  [ $size -ge 500 ] || continue
  check "full at $size kB: readable" "$program" info full.h5
  check "full at $size kB: a frame" "$program" draw full.h5 -o full.png
done
limited 5 solve "$source/problems/card-house.hdf5" --write-solution full.hdf5
check "full: a solution" test $? -eq 2
limited 5 run card-house:levels=2 --time 0.02 --dump-problems full --dump-when every=1 -q
check "full: a problem" test $? -eq 2
limited 5 scene pile
check "full: standard output" test $? -eq 2
limited 5 reduce log --tets 500 -o full-body.h5
check "full: a body" test $? -eq 2

# --- the progress line, where there is a terminal
if command -v script >/dev/null; then
  TERM=xterm timeout 60 script -qec "timeout --foreground -s INT 1 '$program' run ${long[*]}" typescript >/dev/null 2>&1 </dev/null
  check "a progress line on a terminal" test "$(tr '\r' '\n' <typescript | grep -c ' % .*real time.*contacts')" -gt 0
  check "at most ten a second" test "$(tr '\r' '\n' <typescript | grep -c ' % .*real time.*contacts')" -le 12
  check "the line is cleared at the end" grep -q $'\r\033\\[K' typescript
  TERM=xterm timeout 60 script -qec "'$program' run stack:count=5 --time 1 -q" quiet >/dev/null 2>&1 </dev/null
  check "-q shows none" test "$(grep -c 'contacts' quiet)" -eq 0
fi
check "nothing else is left" test "$(ls | grep -c part)" -eq 0

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
