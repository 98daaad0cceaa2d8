"""A small client of the viewer's protocol (docs/protocol.md) for tests: WebSocket, HTTP and the messages, by the standard library alone."""

import base64
import json
import os
import re
import socket
import struct
import subprocess
import time

HELLO, SCENE, GEOMETRY, FRAME, STATUS, SPHERES, FIELD, ERROR, TAKEN, END = range(1, 11)
PLAY, PAUSE, STEP, RESET, OPEN, SET, GRAB, MOVE, RELEASE, WANT, PROBE, SEEN, PICTURE, STAND, ASK_TEXT, OPEN_TEXT = range(64, 80)
SCENE_TEXT = 12


def message(kind, body=b""):
    data = struct.pack("<IIII", kind, 1, len(body), 0) + body
    return data + b"\0" * (-len(data) % 8)


def messages(data):
    """Takes the messages of a stream apart; each is (type, body)."""
    at, found = 0, []
    while at < len(data):
        kind, version, length, zero = struct.unpack_from("<IIII", data, at)
        assert version == 1 and zero == 0, (kind, version, zero)
        found.append((kind, data[at + 16 : at + 16 + length]))
        at += (16 + length + 7) // 8 * 8
    assert at == len(data)
    return found


class Frame:
    """A FRAME taken apart."""

    def __init__(self, body):
        self.step, self.time, n, r, c, self.found, self.flags, s = struct.unpack_from("<ddIIIIII", body)
        at = 40
        words = lambda count: struct.unpack_from("<%df" % count, body, at)
        self.statistics = words(s)
        at += 4 * s
        self.poses = [struct.unpack_from("<7f", body, at + 28 * i) for i in range(n)]
        at += 28 * n
        self.velocities = [struct.unpack_from("<6f", body, at + 24 * i) for i in range(n)]
        at += 24 * n
        self.reduced = struct.unpack_from("<%df" % r, body, at)
        at += 4 * r
        self.contacts = [struct.unpack_from("<II14fII", body, at + 72 * i) for i in range(c)]
        at += 72 * c
        self.hand = struct.unpack_from("<I13f", body, at) if self.flags & 2 else None
        at += 56 if self.hand else 0
        assert at == len(body), (at, len(body))


class Refused(Exception):
    pass


class Client:
    """One WebSocket."""

    def __init__(self, port, token, host=None, origin=None, path="/socket", timeout=20, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        host = "127.0.0.1:%d" % port if host is None else host
        origin = "http://" + host if origin is None else origin
        lines = ["GET %s?token=%s HTTP/1.1" % (path, token), "Host: " + host, "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version: 13"]
        if origin:
            lines.append("Origin: " + origin)
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            more = self.socket.recv(65536)
            if not more:
                raise Refused(self.data.decode(errors="replace"))
            self.data += more
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            self.close()
            raise Refused(head.decode(errors="replace"))
        self.first_geometry = None

    def close(self):
        self.socket.close()

    def send_frame(self, opcode, payload, final=True):
        size = len(payload)
        head = bytes([(128 if final else 0) | opcode])
        head += bytes([128 | size]) if size < 126 else bytes([254]) + struct.pack(">H", size) if size < 65536 else bytes([255]) + struct.pack(">Q", size)
        mask = os.urandom(4)
        key = (mask * (size // 4 + 1))[:size]
        body = (int.from_bytes(payload, "little") ^ int.from_bytes(key, "little")).to_bytes(size, "little")
        self.socket.sendall(head + mask + body)

    def send(self, kind, body=b""):
        self.send_frame(2, message(kind, body))

    def take(self, size):
        while len(self.data) < size:
            more = self.socket.recv(1 << 20)
            if not more:
                raise EOFError("the server closed the connection")
            self.data += more
        part, self.data = self.data[:size], self.data[size:]
        return part

    def receive_frame(self):
        """One WebSocket frame: opcode, payload."""
        a, b = self.take(2)
        size = b & 127
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return a & 15, a & 128, self.take(size)

    def receive(self):
        """One message: type, body. Raises EOFError where the server closes."""
        whole = b""
        while True:
            opcode, final, payload = self.receive_frame()
            if opcode == 8:
                raise EOFError("closed: %r" % payload)
            if opcode == 9:
                self.send_frame(10, payload)
                continue
            whole += payload
            if final:
                break
        found = messages(whole)
        assert len(found) == 1, len(found)
        return found[0]

    def wait(self, *kinds, seconds=20):
        """The next message of these types; frames that come meanwhile are acknowledged."""
        end = time.time() + seconds
        while time.time() < end:
            kind, body = self.receive()
            if kind == FRAME:
                self.send(SEEN, body[:8])
            if kind in kinds:
                return kind, body
        raise TimeoutError(kinds)

    def frame(self):
        return Frame(self.wait(FRAME)[1])

    def status(self):
        return json.loads(self.wait(STATUS)[1])


class Server:
    """`drystone view` as a process."""

    def __init__(self, program, *words, environment=None):
        self.process = subprocess.Popen([program, "view", "--no-open", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, **(environment or {})})
        self.url = self.process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([A-Za-z0-9_-]+)", self.url)
        if not found:
            raise RuntimeError("no URL: %r %r" % (self.url, self.process.stderr.read().decode()))
        self.port, self.token = int(found[1]), found[2]

    def connect(self, **options):
        return Client(self.port, options.pop("token", self.token), **options)

    def http(self, request, timeout=30):
        """The answer to raw bytes: status line and headers as text, and the body."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        connection.sendall(request)
        data = b""
        while True:
            more = connection.recv(1 << 20)
            if not more:
                break
            data += more
        connection.close()
        head, _, body = data.partition(b"\r\n\r\n")
        return head.decode(errors="replace"), body

    def get(self, path, host=None):
        return self.http(("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (path, host or "127.0.0.1:%d" % self.port)).encode())

    def stop(self, signal=2):
        self.process.send_signal(signal)
        out, error = self.process.communicate(timeout=30)
        return self.process.returncode, error.decode()
