#!/usr/bin/env python3
"""Stands in for Chromium in tests of `drystone film`: takes the recording and sends a grey picture for each moment of the film.

FAKE=silent sends none, FAKE=wrong sends them in a wrong order, FAKE=gone ends after the first."""

import json
import os
import struct
import sys
import time
import urllib.parse
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_client import *


def png(width, height, grey):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes([grey] * (3 * width)) for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


url = urllib.parse.urlparse(sys.argv[-1])
token = urllib.parse.parse_qs(url.query)["token"][0]
fake = os.environ.get("FAKE", "")
client = Client(url.port, token)
kind, body = client.receive()
hello = json.loads(body)
film = hello["film"]
assert hello["mode"] == "film" and any("--window-size=%d,%d" % (film["width"], film["height"]) == a for a in sys.argv)

connection = socket.create_connection((url.hostname, url.port))
connection.sendall(("GET /recording?token=%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (token, url.netloc)).encode())
data = b"".join(iter(lambda: connection.recv(1 << 20), b""))
frames = [Frame(body) for kind, body in messages(data.partition(b"\r\n\r\n")[2]) if kind == FRAME]
begin, end = max(frames[0].time, film["from"]), min(frames[-1].time, film["to"])
count = int((end - begin) / film["speed"] * film["rate"] + 1e-6) + 1
while fake == "silent":
    time.sleep(1)
for index in range(count):
    name = index + 1 if fake == "wrong" and index > 0 else index
    client.send(PICTURE, struct.pack("<II", name, count + 1 if fake == "wrong" else count) + png(film["width"], film["height"], 100 + index % 100))
    client.wait(TAKEN)
    if fake == "gone":
        sys.exit(1)
while True:
    time.sleep(1)
