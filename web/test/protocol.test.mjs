// The decoder: what the fixture writes is read as it was written; truncated, changed and random bytes throw a ProtocolError and nothing else.
import test from "node:test";
import assert from "node:assert/strict";
import { checkFrame, Cutter, decode, encodeGrab, encodeOpen, encodePicture, encodeProbe, encodeSet, encodeStand, encodeStep, History, Player, ProtocolError } from "../dist/unit/unit.mjs";
import { ballGeometry, boxGeometry, frame, geometries, hello, json, message, recording, scene } from "./fixture.mjs";

const alone = (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const read = (bytes) => decode(alone(bytes));

/* The same "random" numbers in every run. */
function random(seed) {
  let s = seed >>> 0;
  return () => ((s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 2 ** 32);
}

const samples = [hello("live", { scenes: [{ name: "a", summary: "b", parameters: [{ name: "p", initial: "1", choices: "x|y" }] }] }), scene(3, { soft: true }), ...geometries(true), ballGeometry(1, 1, 12), frame(7, 3, { soft: true }),
  json(5, { paused: true, mu: [0.5], gravity: [0, 0, -9.81] })];

test("messages are read as written", () => {
  assert.equal(read(samples[0]).hello.mode, "live");
  assert.deepEqual(read(samples[0]).hello.scenes[0].parameters[0].choices, ["x", "y"]);
  const { scene: s } = read(samples[1]);
  assert.equal(s.bodies.length, 4);
  assert.equal(s.bodies[1].kind, "deformable");
  const { geometry } = read(boxGeometry(1, [1, 2, 3], 2));
  assert.equal(geometry.vertices, 24);
  assert.equal(geometry.modes, 2);
  assert.deepEqual(geometry.levels, []);
  const { geometry: ball } = read(ballGeometry(1, 0.5, 12));
  assert.deepEqual([ball, ...ball.levels].map(({ corner }) => corner.length / 3), [144, 24]);
  assert.ok(Math.abs(ball.levels[0].error - 0.5 * (1 - Math.cos(Math.PI / 6))) < 1e-6);
  const { frame: f } = read(frame(7, 3, { soft: true }));
  checkFrame(f, s);
  assert.equal(f.step, 7);
  assert.equal(f.contacts, 12);
  assert.equal(f.coordinate.length, 2);
  assert.equal(f.contactU[16], 1);
  assert.equal(read(json(5, { paused: true })).status.paused, true);
});

test("a frame that does not fit its scene is refused", () => {
  const { scene: s } = read(samples[1]);
  assert.throws(() => checkFrame(read(frame(0, 4, { soft: true })).frame, s), ProtocolError);
  assert.throws(() => checkFrame(read(frame(0, 3)).frame, s), ProtocolError);
});

test("joints are read, may be missing, and must fit the scene", () => {
  assert.deepEqual(read(scene(2)).scene.joints, []);
  const pin = { name: "pin", kind: "hinge", a: 1, b: 2, point: [0.1, 0, 0.2], axis: [0, 1, 0] };
  assert.deepEqual(read(scene(2, { joints: [pin] })).scene.joints, [pin]);
  for (const kind of ["ball", "planar", "a kind of tomorrow"]) assert.equal(read(scene(2, { joints: [{ ...pin, kind }] })).scene.joints[0].kind, kind);
  for (const wrong of [{ b: 3 }, { a: -1 }, { axis: [0, 0] }, { point: [0, 0] }])
    assert.throws(() => read(scene(2, { joints: [{ ...pin, ...wrong }] })), ProtocolError, JSON.stringify(wrong));
});

test("every truncation of every message is refused", () => {
  for (const whole of samples)
    for (let length = 0; length < whole.length; length += length < 200 ? 1 : 97) assert.throws(() => read(whole.subarray(0, length)), ProtocolError, `length ${length} of ${whole.length}`);
});

test("counts that do not fit the length are refused before anything is allocated", () => {
  for (const at of [8, 24, 28, 32, 36, 40]) {
    const bytes = Buffer.from(boxGeometry(1, [1, 1, 1], 2));
    bytes.writeUInt32LE(0x7fffffff, at);
    assert.throws(() => read(bytes), ProtocolError, `word at ${at}`);
  }
});

test("a corner that is no vertex, a pose that is no number", () => {
  const bytes = Buffer.from(boxGeometry(1, [1, 1, 1]));
  bytes.writeUInt32LE(24, 16 + 32 + 24 * 24);
  assert.throws(() => read(bytes), /corner/);
  const coarse = Buffer.from(ballGeometry(1, 1, 12)), last = coarse.length - 4; // of a level
  assert.equal(read(coarse).geometry.levels.length, 1);
  coarse.writeUInt32LE(1000, last);
  assert.throws(() => read(coarse), /corner/);
  const bad = Buffer.from(frame(0, 1));
  bad.writeFloatLE(NaN, 16 + 16 + 24 + 64);
  assert.throws(() => read(bad), /finite/);
});

test("50,000 changed and random messages never throw anything but a ProtocolError", () => {
  const next = random(1);
  let refused = 0;
  for (let k = 0; k < 50_000; k++) {
    const bytes = k % 2 ? Buffer.from(samples[Math.floor(next() * samples.length)]) : Buffer.from(Array.from({ length: 16 + Math.floor(next() * 64) }, () => Math.floor(next() * 256)));
    if (k % 2) for (let i = 0; i < 3; i++) bytes[Math.floor(next() * Math.min(bytes.length, 400))] = Math.floor(next() * 256);
    else if (next() < 0.9) {
      bytes.writeUInt32LE(1 + Math.floor(next() * 10), 0);
      bytes.writeUInt32LE(1, 4);
      bytes.writeUInt32LE(Math.max(bytes.length - 16 - Math.floor(next() * 8), 0), 8);
    }
    try {
      read(bytes);
    } catch (error) {
      assert.ok(error instanceof ProtocolError, `${error.stack}`);
      refused++;
    }
  }
  assert.ok(refused > 20_000, `refused ${refused}`);
});

test("a stream in chunks of any size gives the same messages", () => {
  const bytes = recording(2, 5), next = random(2), cutter = new Cutter(), types = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(next() * 300);
    cutter.add(new Uint8Array(bytes.subarray(at, at + length)));
    at += length;
    for (let one = cutter.next(); one; one = cutter.next()) types.push(decode(one).type);
  }
  assert.deepEqual(types, [1, 2, 3, 3, 4, 4, 4, 4, 4, 10]);
  assert.equal(cutter.left, 0);
});

test("the history forgets or thins, and finds", () => {
  const frames = Array.from({ length: 100 }, (_, k) => ({ time: k * 0.1, step: k, bytes: 1000 }));
  const live = new History(false, 20_000), whole = new History(true, 20_000);
  for (const one of frames) {
    live.add(one);
    whole.add(one);
  }
  assert.equal(live.length, 20);
  assert.equal(live.begin, frames[80].time);
  assert.equal(whole.begin, 0);
  assert.ok(whole.length <= 20 && whole.length >= 10 && whole.thinned === 8, `${whole.length} frames, every ${whole.thinned}th`);
  assert.equal(live.at(live.find(9.05)).step, 90);
  assert.equal(live.find(-1), -1);
});

test("the player plays, steps, scrubs and comes back to the present", () => {
  const asked = [], program = { play: (speed) => asked.push(`play ${speed}`), pause: () => asked.push("pause"), step: (n) => asked.push(`step ${n}`) };
  const filled = (live) => {
    const history = new History(!live);
    for (let k = 0; k <= 10; k++) history.add({ time: k * 0.1, step: k, bytes: 1000 });
    return new Player(history, live, program);
  };
  const player = filled(false);
  player.scrub(0.42);
  assert.equal(player.moment().from.step, 4);
  assert.ok(Math.abs(player.moment().between - 0.2) < 1e-9);
  player.step(1);
  assert.equal(player.moment().from.step, 5);
  player.toggle();
  player.advance(10);
  assert.equal(player.time, player.history.end);
  assert.equal(player.playing, false);
  const live = filled(true);
  live.step(1);
  assert.deepEqual(asked, ["pause", "step 1"]);
  live.paused = true;
  live.step(-1);
  assert.equal(live.following, false);
  assert.equal(live.moment().from.step, 9);
  live.step(1);
  assert.equal(live.following, true);
  live.toggle();
  assert.equal(asked.at(-1), "play 1");
});

test("what is sent has the length its type has", () => {
  const lengthOf = (buffer) => new DataView(buffer).getUint32(8, true);
  assert.equal(lengthOf(encodeStep(1)), 4);
  assert.equal(lengthOf(encodeSet(1, 0, 1e-6)), 16);
  assert.equal(lengthOf(encodeGrab(1, [0, 0, 0], [0, 0, 0])), 28);
  assert.equal(lengthOf(encodeProbe(1, 2, 0, 0.5)), 16);
  assert.equal(lengthOf(encodeStand(-1, 10, 90, 0xffffffff, true)), 20);
  assert.equal(lengthOf(encodeOpen("arch:mu=0.5")), 11);
  assert.equal(encodeOpen("arch:mu=0.5").byteLength % 8, 0);
  assert.equal(lengthOf(encodePicture(0, 1, new Uint8Array(5))), 13);
  assert.equal(message(4, Buffer.alloc(3)).length, 24);
});
