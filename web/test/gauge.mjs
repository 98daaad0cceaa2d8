// What a picture costs the graphics: every call of WebGL that draws or uploads is counted, in the page itself, before it goes on to the browser. Nothing of the page or
// of three.js is asked, so that neither can flatter itself.

/* Runs in the page before its own scripts. window.gauge.take() returns what was counted since the last take; while window.gauge.dry is set, what draws is counted and not done,
 * so that the time of the script is not that of graphics in software. */
export function installGauge() {
  const none = () => ({ calls: 0, triangles: 0, shadowCalls: 0, shadowTriangles: 0, lines: 0, points: 0, bytes: 0 });
  let counted = none(), offscreen = false;
  const gl = WebGL2RenderingContext.prototype;
  const before = (name, look) => {
    const own = gl[name], draws = name.startsWith("draw");
    gl[name] = function (...words) {
      look(...words);
      return draws && window.gauge.dry ? undefined : own.apply(this, words);
    };
  };
  const draw = (mode, corners, instances) => {
    if (corners * instances === 0) return;
    offscreen ? counted.shadowCalls++ : counted.calls++;
    if (mode === gl.TRIANGLES) counted[offscreen ? "shadowTriangles" : "triangles"] += (corners / 3) * instances;
    else if (mode === gl.POINTS) counted.points += corners * instances;
    else counted.lines += (corners / 2) * instances;
  };
  before("drawArrays", (mode, _first, count) => draw(mode, count, 1));
  before("drawElements", (mode, count) => draw(mode, count, 1));
  before("drawArraysInstanced", (mode, _first, count, instances) => draw(mode, count, instances));
  before("drawElementsInstanced", (mode, count, _type, _offset, instances) => draw(mode, count, instances));
  before("bindFramebuffer", (target, buffer) => { if (target !== gl.READ_FRAMEBUFFER) offscreen = buffer !== null; }); // the shadow map is the one picture beside the page's own
  const size = (data, length) => (typeof data === "number" ? 0 : length ? length * (data.BYTES_PER_ELEMENT ?? 1) : data?.byteLength ?? 0);
  before("bufferData", (_target, data, _usage, _from, length) => { counted.bytes += size(data, length); });
  before("bufferSubData", (_target, _offset, data, _from, length) => { counted.bytes += size(data, length); });
  const texture = (...words) => { for (const word of words) if (ArrayBuffer.isView(word)) counted.bytes += word.byteLength; };
  before("texImage2D", texture);
  before("texSubImage2D", texture);
  window.gauge = { dry: false, take: () => { const was = counted; counted = none(); return was; } };
}
