// Editing of a scene's text, in node: comments, names, joints that go with their bodies, rotations, links.
import assert from "node:assert/strict";
import test from "node:test";
import { addBody, copyBody, deleteBody, dropInterfaces, packScene, parseScene, printScene, rotationOf, setMaterial, startFrom, turnBody, unpackScene } from "../dist/unit/unit.mjs";

const TEXT = `{ // a scene
  "drystone": 1, "note": "http://not.a/comment \\" /* nor this */",
  "materials": {"oak": {"mu": 0.6}}, /* two
  lines */ "bodies": [
    {"name": "floor", "kind": "static", "shapes": [{"kind": "half-space"}]},
    {"name": "post", "position": [0, 0, 1], "material": "oak", "shapes": [{"kind": "box", "size": [0.1, 0.1, 2]}]},
    {"name": "gate", "position": [0.5, 0, 1], "velocity": [0, 1, 0], "mu": 0.2, "rotation": {"axis": [0, 0, 2], "degrees": 90}, "shapes": [{"kind": "box", "size": [1, 0.1, 1]}]}],
  "joints": [{"kind": "hinge", "bodies": ["post", "gate"], "point": [0, 0, 1], "axis": [0, 0, 1]}]
}`;

test("comments go, texts stay", () => {
  const scene = parseScene(TEXT);
  assert.equal(scene.note, 'http://not.a/comment " /* nor this */');
  assert.equal(scene.bodies.length, 3);
  assert.match(printScene(scene), /"size": \[0\.1, 0\.1, 2\]/);
  assert.deepEqual(parseScene(printScene(scene)), scene);
  assert.throws(() => parseScene('{"drystone": 1}'), /bodies/);
});

test("bodies are added, copied and deleted with their joints", () => {
  const scene = parseScene(TEXT);
  assert.equal(addBody(scene, "cone", 0.5, [0, 0, 3]), 3);
  assert.deepEqual(scene.bodies[3], { name: "cone 1", position: [0, 0, 3], material: "oak", shapes: [{ kind: "cone", radius: 0.25, height: 0.5 }] });
  assert.equal(copyBody(scene, 3, [0, 0, 1]), 4);
  assert.equal(scene.bodies[4].name, "cone 2");
  assert.notEqual(scene.bodies[4].shapes, scene.bodies[3].shapes);
  deleteBody(scene, 4);
  assert.equal(scene.joints.length, 1);
  deleteBody(scene, 2);
  assert.equal(scene.joints, undefined);
});

test("interfaces go with the places of their bodies", () => {
  const scene = parseScene(TEXT);
  scene.interfaces = [["floor", "post"], ["post", "gate"]].map((bodies) => ({ bodies, normal: [0, 0, 1], points: [[0, 0, 0]] }));
  const edited = structuredClone(scene);
  edited.bodies[1].position = [3e-8, 0, 1]; // a pose of a frame
  edited.bodies[2].mass = 3;
  dropInterfaces(edited, scene);
  assert.equal(edited.interfaces.length, 2);
  turnBody(edited, 2, 0, 1);
  dropInterfaces(edited, scene);
  assert.deepEqual(edited.interfaces, [scene.interfaces[0]]);
  deleteBody(edited, 1);
  dropInterfaces(edited, scene);
  assert.equal(edited.interfaces, undefined);
});

test("a material takes the friction that the body had", () => {
  const scene = parseScene(TEXT);
  setMaterial(scene, 2, "ice");
  assert.deepEqual(scene.materials.ice, { mu: 0.2 });
  assert.equal(scene.bodies[2].mu, undefined);
});

test("turns are about axes of the world", () => {
  const scene = parseScene(TEXT), near = (a, b) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 1e-12, `${a} instead of ${b}`)), h = Math.SQRT1_2;
  near(rotationOf(scene.bodies[2]), [h, 0, 0, h]);
  turnBody(scene, 2, 2, -90);
  near(rotationOf(scene.bodies[2]), [1, 0, 0, 0]);
  turnBody(scene, 2, 0, 90);
  turnBody(scene, 2, 2, 90); // first about x, then about z: (1/2, 1/2, 1/2, 1/2)
  near(rotationOf(scene.bodies[2]), [0.5, 0.5, 0.5, 0.5]);
});

test("the present becomes the start", () => {
  const scene = parseScene(TEXT), pose = new Float32Array(21).fill(0);
  pose.set([1, 2, 3, 1, 0, 0, 0], 14);
  pose.set([0, 0, 1, 1, 0, 0, 0], 7);
  startFrom(scene, pose, new Float32Array(0), [0, 1, 2].map(() => ({ first: 0, count: 0 })));
  assert.deepEqual(scene.bodies[2].position, [1, 2, 3]);
  assert.equal(scene.bodies[2].velocity, undefined);
  assert.equal(scene.bodies[0].position, undefined);
});

test("a link holds the scene", async () => {
  const packed = await packScene(TEXT);
  assert.match(packed, /^[\w-]+$/);
  assert.deepEqual(parseScene(await unpackScene(packed)), parseScene(TEXT));
  await assert.rejects(unpackScene(packed.slice(0, 20)));
});
