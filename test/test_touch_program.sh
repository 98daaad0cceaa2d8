#!/usr/bin/env bash
# drystone touch: devices, what it refuses, and datagrams of all kinds to its UDP bridge.
# Usage: bash test_touch_program.sh PROGRAM SOURCE_DIR
. "$(dirname "$0")/shell.sh"

expect 0 "10 ticks at 1000 Hz" touch stack:count=2 --time 0.01 --free-run --tool cube1
expect 0 '"converged_share": 1' touch stack:count=2 --time 0.02 --free-run --report -
printf '# a trace\n0 0 0 0\n0.01 0 0 0.01\n' >trace.txt
expect 0 "20 ticks" touch stack:count=2 --device trace:trace.txt --time 0.02 --free-run
printf '0 0 0 0\n0.01 0 0\n' >short.txt
expect 2 "short.txt:2:" touch stack:count=2 --device trace:short.txt
expect 2 "none.txt" touch stack:count=2 --device trace:none.txt
expect 2 "is unknown" touch stack:count=2 --device phantom
expect 2 "udp:PORT" touch stack:count=2 --device udp:70000
expect 2 "IPv4" touch stack:count=2 --device udp:0 --bind here
expect 2 "there is no body named" touch stack:count=2 --tool nobody
expect 2 "--rate" touch stack:count=2 --rate 0
expect 2 "spin" touch stack:count=2 --spin 0.002
expect 2 "--hurry is now --realtime" touch stack:count=2 --hurry
expect 2 "--awake is now --spin" touch stack:count=2 --awake 0.0003
expect 2 "--most-force is now --max-force" touch stack:count=2 --most-force=5
expect 2 "give one scene" touch
expect 2 "dynamic" touch stack:count=2 --tool floor

# Datagrams: random, short, long, of another version, not finite, old; then good ones, which are answered.
cat >talk.py <<'END'
import math, random, socket, struct, sys, time
port = int(sys.argv[1])
s, other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", port))
s.settimeout(2)
random.seed(1)


def pose(sequence, mark=0x50545344, version=1, x=0.0, w=1.0):
    return struct.pack("<4I7d", mark, version, sequence, 0, x, 0, -0.001 * sequence, w, 0, 0, 0)


bad = [random.randbytes(n) for n in (0, 1, 16, 71, 72, 73, 1400)]
bad += [pose(1, mark=1), pose(1, version=2), pose(1, x=math.nan), pose(1, w=2.0), pose(1) + b"0", pose(1)[:-1]]
bad += [pose(1, x=1.7e308), pose(1, x=-1.1e6), pose(1, x=math.inf)]
for data in bad:
    s.send(data)
time.sleep(0.05)
answers = 0
for i in range(1, 51):
    s.send(pose(i))
    s.send(pose(max(1, i - 5)))  # old
    other.sendto(pose(i + 1000), ("127.0.0.1", port))  # not who was heard first
    mark, version, sequence, zero, *force = struct.unpack("<4I6d", s.recv(100))
    assert (mark, version, zero) == (0x46545344, 1, 0) and all(map(math.isfinite, force)), (mark, version, force)
    answers += 1
s.send(pose(100, x=9e5))  # far, and a number that a device may have: limited, not followed at once
s.send(pose(101, x=1.7e308))
time.sleep(0.05)
s.send(pose(102))
assert all(map(math.isfinite, struct.unpack("<4I6d", s.recv(100))[4:]))
print(answers)
END
if command -v python3 >/dev/null; then
  timeout 60 "$program" touch stack:count=2 --device udp:0 --time 3 --report udp.json >udp.log 2>&1 &
  for _ in $(seq 100); do [ -s udp.log ] && break; sleep 0.05; done
  port=$(sed -n 's/^udp 127.0.0.1:\([0-9]*\)$/\1/p' udp.log)
  check "udp: good datagrams are answered" timeout 30 python3 talk.py "$port"
  wait
  check "udp: report" python3 - <<'END'
import json
r = json.load(open("udp.json"))
u = r["udp"]
assert u["malformed"] == 17 and u["received"] >= 50 and u["old"] >= 40 and u["foreign"] >= 40, u
assert r["silent"] > 0 and r["ticks"] > 0, r
END
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
