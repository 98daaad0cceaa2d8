// Exports in independent readers: read.mjs MODULES FILE... prints one JSON object per file: what Khronos' validator says of
// .glb and .gltf, what three.js reads of .glb and .usda: world positions of all vertices at the end of the animation; and
// what TinyUSDZ, a reader of USD in C++, says of .usda, with the layer as it read it.
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = (path) => import(pathToFileURL(`${modules}/three/${path}`));
const THREE = await load("build/three.module.js");
const { GLTFLoader } = await load("examples/jsm/loaders/GLTFLoader.js");
const { USDLoader } = await load("examples/jsm/loaders/USDLoader.js");
globalThis.self ??= globalThis;

function points(root, animations) {
  if (animations.length > 0) {
    const mixer = new THREE.AnimationMixer(root);
    const action = mixer.clipAction(animations[0]);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
    mixer.setTime(animations[0].duration);
  }
  root.updateMatrixWorld(true);
  const found = {};
  const point = new THREE.Vector3();
  root.traverse((mesh) => {
    if (!mesh.isMesh) return;
    const bodies = (found[mesh.name === "surface" ? mesh.parent.name : mesh.name] ??= []);
    const position = mesh.geometry.attributes.position;
    for (let i = 0; i < position.count; i++) {
      mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld);
      bodies.push([point.x, -point.z, point.y]); // y up to z up
    }
  });
  return found;
}

// TinyUSDZ' WebAssembly is built for workers of browsers, not for node.
async function readerOfUsd() {
  const folder = `${modules}/tinyusdz`;
  if (!existsSync(folder)) return undefined;
  globalThis.WorkerGlobalScope ??= class {};
  process.type = "renderer";
  const wasmBinary = readFileSync(`${folder}/tinyusdz.wasm`);
  const usd = await (await import(pathToFileURL(`${folder}/tinyusdz.js`))).default({ wasmBinary });
  delete process.type;
  return usd;
}

const usd = await readerOfUsd();

function readUsd(file, bytes) {
  const scene = new usd.TinyUSDZLoaderNative();
  const layer = new usd.TinyUSDZLoaderNative();
  const good = scene.loadFromBinary(bytes, file) && layer.loadAsLayerFromBinary(bytes, file);
  return good
    ? { messages: scene.error() + layer.error(), meshes: scene.numMeshes(), layer: layer.layerToString() }
    : { messages: scene.error() + layer.error() || "not read" };
}

for (const file of files) {
  const bytes = readFileSync(file);
  const result = { file };
  if (!file.endsWith(".usda")) {
    const { issues, info } = await require("gltf-validator").validateBytes(new Uint8Array(bytes));
    result.problems = issues.numErrors + issues.numWarnings + issues.numInfos;
    result.messages = issues.messages;
    result.animations = info.animationCount;
    result.morphs = info.hasMorphTargets;
  }
  if (file.endsWith(".glb")) {
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const gltf = await new Promise((done, failed) => new GLTFLoader().parse(buffer, "", done, failed));
    result.points = points(gltf.scene, gltf.animations);
  } else if (file.endsWith(".usda")) {
    const root = new USDLoader().parse(bytes.toString());
    result.points = points(root, root.animations ?? []);
    if (usd) result.usd = readUsd(file, new Uint8Array(bytes));
  }
  console.log(JSON.stringify(result));
}
