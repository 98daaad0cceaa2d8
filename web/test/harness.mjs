// What the page's tests share: a browser that reports every console error and every request to another host, a server for folders, and the program itself.
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const dist = process.env.DIST ?? join(here, "../dist");

export function chromiumPath() {
  return [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
}

export async function launch() {
  return chromium.launch({ executablePath: chromiumPath(), args: ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-gpu-vsync", "--force-prefers-reduced-motion"] });
}

/* A page that collects what must not happen. `allowed` is a pattern of console errors that the test itself provokes; `before` runs in the page ahead of its scripts. */
export async function openPage(browser, url, { width = 1280, height = 800, allowed = /$^/, light = false, before = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: light ? "light" : "dark", acceptDownloads: true });
  const page = await context.newPage();
  if (before) await page.addInitScript(before);
  const faults = [], host = new URL(url).host;
  page.on("console", (entry) => { if (entry.type() === "error" && !allowed.test(entry.text())) faults.push(`console: ${entry.text()}`); });
  page.on("pageerror", (error) => faults.push(`exception: ${error.stack ?? error.message}`));
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (!["data:", "blob:"].includes(to.protocol) && to.host !== host) faults.push(`request to another host: ${request.url()}`);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== host) faults.push(`socket to another host: ${socket.url()}`);
    socket.on("close", () => { if (!faults.closing && !allowed.test("WebSocket")) faults.push("the socket was closed"); });
  });
  await page.goto(url);
  return { page, context, faults };
}

/* Serves `files` (path -> bytes) and the built page. */
export async function serveFolder(files = {}) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".bin": "application/octet-stream" };
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname.replace(/^\/$/, "/index.html").slice(1);
    const own = files[path] ?? (/^(index\.html|app\.js|app\.css)$/.test(path) ? readFileSync(join(dist, path)) : null);
    if (!own) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[path.slice(path.lastIndexOf("."))] ?? "application/octet-stream", "content-length": own.length });
    response.end(own);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => { server.closeAllConnections?.(); server.close(); } };
}

/* Starts `drystone view ...`; resolves with its URL, the first line it prints. */
export function startView(words, program = process.env.DRYSTONE) {
  const child = spawn(program, ["view", ...words, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const ended = new Promise((done) => child.on("exit", done));
  const url = new Promise((done, fail) => {
    const look = (data) => {
      text += data;
      const hit = /https?:\/\/\S+/.exec(text);
      if (hit) done(hit[0]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("exit", (code) => fail(new Error(`drystone view ended with ${code}: ${text}`)));
    setTimeout(() => fail(new Error(`drystone view printed no address: ${text}`)), 20_000).unref();
  });
  return { url, child, stop: async () => { child.kill("SIGTERM"); await ended; } };
}

/* Waits until the page's own state (window.drystone) satisfies a condition. */
export async function until(page, condition, argument, timeout = 20_000) {
  const end = Date.now() + timeout;
  for (;;) {
    if (await page.evaluate(condition, argument).catch(() => false)) return;
    if (Date.now() > end) throw new Error(`not within ${timeout / 1000} s: ${condition}`);
    await page.waitForTimeout(50);
  }
}
