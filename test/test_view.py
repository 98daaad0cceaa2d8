#!/usr/bin/env python3
"""Drives `drystone view` as a client does, well-behaved and hostile. Usage: test_view.py PROGRAM, in a folder of its own."""

import json
import math
import os
import random
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_client import *

program = sys.argv[1]
quick = os.environ.get("DRYSTONE_TEST_QUICK") == "1"
passed = failed = 0


def check(name, good, *values):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAIL", name, *values)


def equal(name, found, wanted):
    check(name, found == wanted, "found", found, "wanted", wanted)


def refused(name, server, want="403", **options):
    try:
        server.connect(**options).close()
        check(name, False, "was let in")
    except Refused as error:
        check(name, want in str(error).split("\r\n")[0], "answer", str(error)[:80], "wanted", want)


def closed(name, client, *ways):
    """The connection is closed from the other side, soon."""
    try:
        for way in ways:
            way()
        client.socket.settimeout(20)
        for _ in range(1000):
            client.receive()
        check(name, False, "still open")
    except (EOFError, ConnectionError):
        check(name, True)
    except socket.timeout:
        check(name, False, "still open")
    client.close()


def bare(frame):
    """A frame without the times that its stages took."""
    return frame.step, frame.time, frame.flags, frame.statistics[:11], frame.poses, frame.velocities, frame.reduced, frame.contacts


def same_contacts(found, wanted):
    """Contacts that change by rounding alone are stored once, in single precision [docs/recording.md], as are both frames: 6e-8
    each."""
    pairs = [(x, y) for a, b in zip(found, wanted) for x, y in zip(a, b)]
    return len(found) == len(wanted) and all(abs(x - y) <= 1.8e-7 * abs(y) + 1e-12 for x, y in pairs)


def step_to(client, steps):
    """Begins anew, paused, and goes so many steps."""
    client.send(PAUSE)
    client.send(RESET)
    client.wait(SCENE)
    client.send(STEP, struct.pack("<I", steps))
    while True:
        frame = client.frame()
        if frame.step == steps:
            return frame


# ---- what a client is sent ----


def test_greeting(server):
    client = server.connect()
    kind, body = client.receive()
    hello = json.loads(body)
    equal("HELLO comes first", (kind, hello["protocol"], hello["mode"]), (HELLO, 1, "live"))
    check("generators are named", "card-house" in [s["name"] for s in hello["scenes"]], len(hello["scenes"]))
    kind, body = client.receive()
    scene = json.loads(body)
    equal("then SCENE", (kind, scene["name"], len(scene["up"])), (SCENE, "card-house", 3))
    for index in range(scene["geometries"]):
        kind, body = client.receive()
        head = struct.unpack_from("<8I", body)
        n, m, e, r, levels = head[2:7]
        equal("GEOMETRY %d" % index, (kind, head[0], len(body)), (GEOMETRY, index, 32 + 24 * n + 12 * m + 8 * e + 12 * n * r))
        equal("levels of a small scene", levels, 0)
        corners = struct.unpack_from("<%dI" % (3 * m), body, 32 + 24 * n)
        check("corners exist", all(c < n for c in corners), max(corners, default=0), n)
    used = {part["geometry"] for b in scene["bodies"] for part in b["parts"]}
    equal("all geometries are used", sorted(used), list(range(scene["geometries"])))
    frame = client.frame()
    equal("a frame has all bodies", len(frame.poses), len(scene["bodies"]))
    status = client.status()
    check("STATUS", status["paused"] is False and status["clients"] >= 1 and len(status["mu"]) == len(scene["materials"]), status)
    client.close()


def test_rate(server):
    """At most three frames are under way, and at most as many a second as were asked for."""
    client = server.connect()
    start, count = time.time(), 0
    while time.time() < start + 1.5:  # STATUS comes once a second
        count += client.receive()[0] == FRAME
    equal("frames that are not acknowledged", count, 3)
    client.close()
    client = server.connect()
    client.send(WANT, struct.pack("<II", 0, 5))
    start, count = time.time(), 0
    while time.time() < start + 2:
        kind, body = client.wait(FRAME, STATUS)
        count += kind == FRAME
    check("5 frames a second", count <= 15, count)
    equal("no contacts where none are wanted", len(client.frame().contacts), 0)
    client.close()


def test_determinism(server):
    client = server.connect()
    steps = 10 if quick else 40
    first, again = step_to(client, steps), step_to(client, steps)
    equal("RESET begins anew, bit for bit", bare(again), bare(first))
    client.send(PLAY, struct.pack("<f", 1))
    client.close()
    record = "determinism.h5"
    subprocess.run([program, "run", "card-house", "--time", str(steps * 0.01), "-o", record, "-q"], check=True)
    shown = Server(program, record)
    frames = [Frame(body) for kind, body in messages(shown.get("/recording?token=" + shown.token)[1]) if kind == FRAME]
    equal("frames of the recording", len(frames), steps + 1)
    equal("the run's recording is the same, bit for bit", bare(frames[-1])[4:7], bare(first)[4:7])
    check("and its contacts, but for rounding", same_contacts(frames[-1].contacts, first.contacts))
    equal("and its statistics", frames[-1].statistics[:11], first.statistics[:11])
    check("contacts have an island", all(c[-1] == 0 for c in first.contacts), {c[-1] for c in first.contacts})
    shown.stop()


# ---- who may connect ----


def test_access(server):
    here = "127.0.0.1:%d" % server.port
    refused("no token", server, token="")
    refused("another token", server, token="0" * len(server.token))
    refused("a part of the token", server, token=server.token[:-1])
    refused("more than the token", server, token=server.token + "0")
    refused("another page", server, origin="http://example.org")
    refused("another port's page", server, origin="http://127.0.0.1:1")
    refused("https", server, origin="https://" + here)
    refused("no Origin", server, origin="")
    refused("Origin null", server, origin="null")
    refused("another name of this machine", server, host="example.org:%d" % server.port)
    refused("another port in Host", server, host="127.0.0.1:1")
    refused("Host with more behind it", server, host=here + ".example.org")
    refused("another path", server, "404", path="/other")
    client = server.connect(host="localhost:%d" % server.port)
    equal("localhost is a name of it", client.receive()[0], HELLO)
    client.close()


def test_http(server):
    head, body = server.get("/")
    lines = head.lower().split("\r\n")
    equal("the page", lines[0], "http/1.1 200 ok")
    check("is a page", body.startswith(b"<!doctype html") or body.startswith(b"<!DOCTYPE html"), body[:40])
    for header in ("content-security-policy: default-src 'self'", "x-content-type-options: nosniff", "referrer-policy: no-referrer", "cache-control: no-store"):
        check(header, any(line.startswith(header) for line in lines), lines)
    here = "Host: 127.0.0.1:%d\r\n" % server.port
    cases = [
        ("another Host", "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "403"),
        ("no Host", "GET / HTTP/1.1\r\n\r\n", "40"),
        ("POST", "POST / HTTP/1.1\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n" % here, "405"),
        ("no such file", "GET /app.exe HTTP/1.1\r\n%s\r\n" % here, "404"),
        ("up and out", "GET /../../etc/passwd HTTP/1.1\r\n%s\r\n" % here, "40"),
        ("up and out, encoded", "GET /%%2e%%2e/%%2e%%2e/etc/passwd HTTP/1.1\r\n%s\r\n" % here, "40"),
        ("a recording without a token", "GET /recording HTTP/1.1\r\n%s\r\n" % here, "403"),
        ("a recording of a live scene", "GET /recording?token=%s HTTP/1.1\r\n%s\r\n" % (server.token, here), "404"),
        ("the socket by HTTP", "GET /socket?token=%s HTTP/1.1\r\n%s\r\n" % (server.token, here), "400"),
    ]
    for name, request, want in cases:
        head, body = server.http(request.encode())
        check(name, head.split(" ")[1:2] and head.split(" ")[1].startswith(want) and b"root:" not in body, head[:60], "wanted", want)


# ---- hostile clients ----


def test_malformed(server):
    watcher = server.connect()
    before = watcher.frame().step
    broken = {
        "text": lambda c: c.send_frame(1, message(PAUSE)),
        "too long": lambda c: c.send_frame(2, message(OPEN, b"x" * 70000)),
        "a text that is too long": lambda c: c.send_frame(2, message(OPEN_TEXT, b"x" * (5 << 20))),
        "a text without its name": lambda c: c.send(OPEN_TEXT, struct.pack("<I", 9) + b"name"),
        "too long in pieces": lambda c: [c.send_frame(2 if i == 0 else 0, b"x" * 8000, final=False) for i in range(10)],
        "empty": lambda c: c.send_frame(2, b""),
        "short": lambda c: c.send_frame(2, message(PAUSE)[:12]),
        "unknown type": lambda c: c.send(1234),
        "a type of the program's": lambda c: c.send(FRAME, b"x" * 40),
        "another version": lambda c: c.send_frame(2, struct.pack("<IIII", PAUSE, 2, 0, 0)),
        "length of another type": lambda c: c.send(STEP, b"12345678"),
        "length that lies": lambda c: c.send_frame(2, struct.pack("<IIII", OPEN, 1, 1 << 31, 0) + b"arch\0\0\0\0"),
        "two messages in one": lambda c: c.send_frame(2, message(PAUSE) + message(PAUSE)),
        "padding": lambda c: c.send_frame(2, message(STEP, b"\1\0\0\0")[:-4] + b"\1\1\1\1"),
        "a picture": lambda c: c.send(PICTURE, struct.pack("<II", 0, 1) + b"\x89PNG\r\n\x1a\n"),
    }
    for name, way in broken.items():
        client = server.connect()
        closed("closed: " + name, client, lambda: way(client))
    generator = random.Random(6)
    for _ in range(20 if quick else 60):
        client = server.connect()
        try:
            for _ in range(generator.randrange(1, 6)):
                size = generator.choice([0, 1, 8, 16, 24, 32, 100, 1000])
                body = bytearray(generator.randbytes(size))
                if generator.random() < 0.6 and size >= 16:  # a good header and random values
                    kind = generator.choice([SET, GRAB, MOVE, WANT, PROBE, SEEN, PLAY, STEP])
                    length = {SET: 16, GRAB: 28, MOVE: 12, WANT: 8, PROBE: 16, SEEN: 8, PLAY: 4, STEP: 4}[kind]
                    client.send(kind, generator.randbytes(length))
                else:
                    client.send_frame(generator.choice([0, 1, 2, 3, 8, 9, 10, 15]), bytes(body), generator.random() < 0.8)
        except (ConnectionError, BrokenPipeError):
            pass
        client.close()
    for _ in range(20):  # no WebSocket at all
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(generator.randbytes(generator.randrange(1, 3000)))
        connection.close()
    watcher.send(SET, struct.pack("<IId", 5, 0, 0.5))
    for axis, g in enumerate((0, 0, -9.81)):
        watcher.send(SET, struct.pack("<IId", 2, axis, g))
    watcher.send(SET, struct.pack("<IId", 1, 0, 1e-8))
    watcher.send(SET, struct.pack("<IId", 4, 0, 0))
    watcher.send(PAUSE)
    watcher.send(RESET)
    watcher.send(PLAY, struct.pack("<f", 1))
    watcher.wait(SCENE)
    after = watcher.frame().step
    while after < 20:
        after = watcher.frame().step
    check("the others are unharmed", after >= 20, before, after)
    watcher.close()


def test_values(server):
    client = server.connect()
    wrong = [
        (PLAY, struct.pack("<f", -1)), (PLAY, struct.pack("<f", math.nan)), (STEP, struct.pack("<I", 0)), (STEP, struct.pack("<I", 10001)),
        (OPEN, b""), (OPEN, b"no-such-scene"), (OPEN, b"card-house:levels=1e9"), (OPEN, b"/etc/passwd"), (OPEN, b"determinism.h5"), (OPEN, b"a\0b"),
        (SET, struct.pack("<IId", 1, 0, -1)), (SET, struct.pack("<IId", 1, 0, math.inf)), (SET, struct.pack("<IId", 2, 3, 0)), (SET, struct.pack("<IId", 3, 99, 0.5)),
        (SET, struct.pack("<IId", 3, 0, -1)), (SET, struct.pack("<IId", 4, 0, 99)), (SET, struct.pack("<IId", 4, 0, 0.5)), (SET, struct.pack("<IId", 9, 0, 2)),
        (GRAB, struct.pack("<I6f", 10**6, *[0] * 6)), (GRAB, struct.pack("<I6f", 0, *[0] * 6)), (GRAB, struct.pack("<I6f", 1, math.nan, *[0] * 5)),
        (WANT, struct.pack("<II", 3, 0)), (PROBE, struct.pack("<IIIf", 3, 0, 0, 0)), (PROBE, struct.pack("<IIIf", 2, 1, 3, 0)),
        (PROBE, struct.pack("<IIIf", 1, 10**6, 0, 0)), (PROBE, struct.pack("<IIIf", 1, 1, 0, 0)), (PROBE, struct.pack("<IIIf", 2, 0, 0, 0.5)),
    ]
    for kind, body in wrong:
        client.send(kind, body)
        text = client.wait(ERROR)[1].decode()
        check("ERROR says what is wrong", 10 < len(text) < 520, kind, body[:20], text)
    client.send(OPEN, b"no-such-scene")
    client.wait(ERROR)
    check("the old scene goes on", client.frame().step < client.frame().step, "")
    client.close()


def named(name, text):
    return struct.pack("<I", len(name)) + name + text


def test_text(server):
    """The scene's text, and scenes that clients send: any but those that name files."""
    client = server.connect()
    client.send(ASK_TEXT)
    text = client.wait(SCENE_TEXT)[1]
    scene = json.loads(text)
    for body in scene["bodies"]:
        body.pop("note", None)
    scene["bodies"].append({"name": "guest", "position": [0, 0, 5], "shapes": [{"kind": "sphere", "radius": 0.1}]})
    for wrong, reason in [
        (b"{", "mine.json:1:"), (b"", "mine.json"), (b'{"drystone": 1, "bodies": []}', "bodies"),
        (b'{"drystone": 1, "solids": {"a": {"file": "/etc/passwd"}}, "bodies": [{"shapes": [{"kind": "solid", "solid": "a"}]}]}', "may name no files"),
        (b'{"drystone": 1, "bodies": [{"deformable": {"file": "body.h5"}}]}', "may name no files"),
        (b'{"drystone": 1, "bodies": [{"deformable": {"shape": {"file": "body.obj"}, "modes": 4}}]}', "may name no files"),
    ]:
        client.send(OPEN_TEXT, named(b"mine.json", wrong))
        said = client.wait(ERROR)[1].decode()
        check("a text that cannot be opened", reason in said, wrong, said)
    client.send(OPEN_TEXT, named(b"", text))
    check("a text without a name", "name" in client.wait(ERROR)[1].decode())
    long = json.dumps(scene).encode() + b" " * 200000  # more than other messages may have
    client.send(OPEN_TEXT, named(b"mine.json", long))
    opened = json.loads(client.wait(SCENE)[1])
    equal("the source of a text", opened["source"], "mine.json")
    equal("its bodies", opened["bodies"][-1]["name"], "guest")
    client.send(ASK_TEXT)
    check("the text comes back", client.wait(SCENE_TEXT)[1].rstrip(b" \0") == long.rstrip(b" "))
    client.send(OPEN, b"stack")
    client.wait(SCENE)
    client.close()


def test_many(server):
    clients = [server.connect() for _ in range(100)]
    for client in clients:
        client.frame()
    first = clients[0].frame().step
    counted, end = 0, time.time() + 10
    while counted < 100 and time.time() < end:  # the first ones may be older
        counted = clients[0].status()["clients"]
    check("clients that are counted", counted >= 100, counted)
    for client in clients[1:]:
        client.close()
    later = clients[0].frame().step
    check("the simulation goes on with 100 clients", later > first, first, later)
    clients[0].close()


def pace(client, seconds):
    """Simulated over wall time, measured by a client that reads."""
    start, begin = client.frame(), time.time()
    while time.time() < begin + seconds:
        last = client.frame()
    return (last.time - start.time) / (time.time() - begin)


def memory(server):
    """MB that the server has."""
    for line in open("/proc/%d/status" % server.process.pid):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024


def test_stuck(server):
    reader = server.connect()
    alone, before = pace(reader, 1), memory(server)
    stuck = [server.connect(receive_buffer=2048) for _ in range(8)]
    for client in stuck:  # asks for everything, again and again, and never reads
        for _ in range(200):
            client.send(PROBE, struct.pack("<IIIf", 2, 1, 0, 0.5))
    with_them = pace(reader, 1.5)
    check("and little memory", quick or memory(server) < before + 40, before, "MB, then", memory(server))
    check("clients that do not read cost nothing", with_them > 0.5 * alone, "alone", alone, "with them", with_them)
    for client in stuck:
        client.close()
    reader.close()


# ---- what clients may ask for ----


def test_commands(server):
    client = server.connect()
    client.send(PAUSE)
    while not client.status()["paused"]:
        pass
    client.send(SET, struct.pack("<IId", 5, 0, 0.25))
    client.send(SET, struct.pack("<IId", 2, 0, 1.5))
    client.send(SET, struct.pack("<IId", 1, 0, 1e-6))
    client.send(SET, struct.pack("<IId", 4, 0, 1))
    status = client.status()
    while status["method"] != "gauss-seidel":
        status = client.status()
    equal("mu of all", set(status["mu"]), {0.25})
    equal("gravity, tolerance", (status["gravity"][0], status["tolerance"]), (1.5, 1e-6))
    client.send(OPEN, b"stack:count=3")
    scene = json.loads(client.wait(SCENE)[1])
    equal("another scene", (scene["source"], len(scene["bodies"])), ("stack:count=3", 4))
    frame = client.frame()
    equal("it begins at its start", (frame.step, len(frame.poses)), (0, 4))
    client.send(STEP, struct.pack("<I", 3))
    while frame.step < 3:
        frame = client.frame()
    equal("three steps", frame.step, 3)
    client.send(PROBE, struct.pack("<IIIf", 2, 1, 2, 0.5))
    body = client.wait(FIELD)[1]
    index, columns, rows = struct.unpack_from("<III", body)
    values = struct.unpack_from("<%df" % (columns * rows), body, 52)
    check("a slice of a box: negative inside, positive outside", min(values) < 0 < max(values) and index == 1, min(values), max(values))
    client.send(WANT, struct.pack("<II", 2, 0))
    carrying = client.frame()
    check("contacts that carry", 0 < len(carrying.contacts) <= carrying.found and all(any(c[8:11]) for c in carrying.contacts), len(carrying.contacts), carrying.found)
    client.close()


def test_hand(server):
    client, other = server.connect(), server.connect()
    client.send(OPEN, b"stack:count=3")
    client.wait(SCENE)
    client.send(PLAY, struct.pack("<f", 1))
    frame = client.frame()
    x, y, z = frame.poses[3][:3]
    client.send(GRAB, struct.pack("<I6f", 3, 0, 0, 0, x, y, z + 1))
    while not frame.hand or frame.poses[3][2] < z + 0.5:
        frame = client.frame()
    equal("the hand holds", (frame.hand[0], frame.flags & 2), (3, 2))
    other.send(GRAB, struct.pack("<I6f", 2, 0, 0, 0, 0, 0, 1))
    check("one hand at a time", b"another client" in other.wait(ERROR)[1])
    client.send(MOVE, struct.pack("<3f", x + 1, y, z + 1))
    while frame.poses[3][0] < x + 0.5:
        frame = client.frame()
    check("what is held follows", frame.poses[3][0] > x + 0.5, frame.poses[3])
    client.close()
    frame = other.frame()
    while frame.hand:
        frame = other.frame()
    check("who goes lets go", not frame.hand)
    other.close()


# ---- recordings ----


def test_recording():
    subprocess.run([program, "run", "stack:count=3", "--time", "0.2", "-o", "short.h5", "-q"], check=True)
    refused = subprocess.run([program, "view", "short.h5", "--no-open", "--step-budget", "5"], capture_output=True, timeout=30)
    check("a recording has no budget", refused.returncode == 2 and b"options of the simulation" in refused.stderr, refused)
    server = Server(program, "short.h5")
    client = server.connect()
    equal("the socket says what it is", json.loads(client.receive()[1])["mode"], "recording")
    client.send(PLAY, struct.pack("<f", 1))
    check("and has nothing live", b"recording" in client.wait(ERROR)[1])
    head, body = server.get("/recording?token=" + server.token)
    found = messages(body)
    scene = json.loads(found[1][1])
    kinds = [kind for kind, _ in found]
    equal("the order of a recording", kinds, [HELLO, SCENE] + [GEOMETRY] * scene["geometries"] + [FRAME] * scene["frames"] + [END])
    equal("frames", (scene["frames"], [Frame(b).step for k, b in found if k == FRAME]), (21, list(range(21))))
    code, text = server.stop()
    equal("Ctrl-C ends it", code, 0)
    export = subprocess.run([program, "view", "short.h5", "--export", "out"], capture_output=True)
    if b"not in this program" in export.stderr:
        return  # built without npm
    equal("--export", (export.returncode, export.stderr), (0, b""))
    names = sorted(os.listdir("out"))
    check("the page is exported", {"index.html", "app.js", "recording.bin"} <= set(names) and not any(".part" in n for n in names), names)
    check("and the recording, the same messages", messages(open("out/recording.bin", "rb").read()) == found)


def test_growing():
    run = subprocess.Popen([program, "run", "card-house:levels=6", "--time", "100", "-o", "growing.h5", "-q"])
    try:
        for _ in range(200):
            time.sleep(0.1)
            if os.path.exists("growing.h5") and os.path.getsize("growing.h5") > 1 << 19:
                break
        server = Server(program, "growing.h5")
        counts = []
        for _ in range(12):
            found = messages(server.get("/recording?token=" + server.token)[1])
            counts.append(sum(kind == FRAME for kind, _ in found))
            equal("what is there ends with END", found[-1][0], END)
            if counts[-1] > counts[0] > 0:
                break
            time.sleep(0.5)  # it is flushed every quarter of a second
        check("a recording that is being written grows", counts[-1] > counts[0], counts)
        server.stop()
    finally:
        run.kill()
        run.wait()
    os.remove("growing.h5")


def test_start_and_end():
    server = Server(program, "stack", "--port", "0", environment={"DRYSTONE_TOKEN": "a-token-of-the-test"})
    equal("the token of the environment", server.token, "a-token-of-the-test")
    taken = subprocess.run([program, "view", "stack", "--no-open", "--port", str(server.port)], capture_output=True, timeout=30)
    check("a port that is taken", taken.returncode == 2 and b"--port 0" in taken.stderr, taken)
    time.sleep(0.3)
    client = server.connect()
    equal("a scene waits at its start for who comes first", client.frame().step, 0)
    start = time.time()
    code, text = server.stop()
    check("Ctrl-C ends it while somebody watches", code == 0 and time.time() < start + 10, code, time.time() - start, text)
    bad = subprocess.run([program, "view", "bad.json", "--no-open"], capture_output=True, timeout=30) if open("bad.json", "w").write("{}") else None
    check("a scene that cannot be opened", bad.returncode == 2 and b"bad.json:1" in bad.stderr, bad)
    server = Server(program, "stack")
    equal("SIGTERM", server.stop(15)[0], 143)
    server = Server(program, "pile:count=20", "--step-budget", "1", "--tol", "1e-12")
    client = server.connect()
    check("--step-budget: steps that do not converge are shown", any(not client.frame().flags & 1 for _ in range(100)))
    server.stop()


def main():
    server = Server(program, "card-house")
    tests = [test_greeting, test_determinism, test_access, test_http, test_malformed, test_values, test_text, test_rate, test_many, test_stuck, test_commands, test_hand]
    for test in tests:
        start = time.time()
        try:
            test(server)
        except (OSError, EOFError, TimeoutError, AssertionError, Refused, ValueError, struct.error) as error:
            check(test.__name__, False, repr(error))
        if os.environ.get("VERBOSE"):
            print("%-20s %.1f s" % (test.__name__, time.time() - start))
        if server.process.poll() is not None:
            check("the server goes on", False, server.process.stderr.read().decode()[-3000:])
            server = Server(program, "card-house")
    code, text = server.stop()
    equal("the end", (code, [line for line in text.splitlines() if "not in this program" not in line]), (0, []))
    for test in (test_recording, test_growing, test_start_and_end):
        start = time.time()
        test()
        if os.environ.get("VERBOSE"):
            print("%-20s %.1f s" % (test.__name__, time.time() - start))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


sys.exit(main())
