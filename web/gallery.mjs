// The gallery of `make web`: gallery.html, one picture per scene, each a link to the page that runs it. Usage: node gallery.mjs PROGRAM FOLDER
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SCENES = [
  ["card-house:levels=4", "A house of cards", "Pull out a card and see which contacts give way."],
  ["arch:stones=15", "An arch of dry stones", "It stands by compression and friction alone."],
  ["vault:courses=7,stones=3", "A vault", "A barrel of dry stones, in courses."],
  ["wall:rows=5,bricks=4,ball_speed=10", "A wall is hit", "A ball at 10 m/s meets dry bricks."],
  ["dominoes:count=20", "Dominoes", "Each one pushes the next."],
  ["overhang", "An overhang", "Blocks beyond the edge of a table."],
  ["tower:levels=8,missing=2,seed=3", "A tower", "Blocks are missing; it stands."],
  ["pile:count=30", "A pile", "Bodies of many shapes fall on each other."],
  ["log-house", "A log house", "Logs with notches, one on the other."],
  ["bridge", "A bridge of hinged planks", "Joints and contacts in one solve."],
  ["linkage", "A linkage", "A closed chain of hinges pushes blocks."],
  ["rings:count=8", "Rings", "They fall onto a peg."],
  ["billiard", "Billiard", "Balls roll and slide on cloth."],
  ["soft-stack:count=3", "Soft blocks", "Deformable bodies in a stack."],
  ["soft-incline", "A soft block on a slope", "Sticks and slides with many points."],
  ["chairs:count=2,kind=rigid", "Chairs", "On a slope they chatter and slide."],
];

const [program, folder] = process.argv.slice(2), text = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;");
mkdirSync(join(folder, "gallery"), { recursive: true });
const cards = SCENES.map(([scene, title, about]) => {
  const picture = `gallery/${scene.split(":")[0]}.png`;
  execFileSync(program, ["draw", scene, "-o", join(folder, picture), "--size", "480x320"], { stdio: ["ignore", "ignore", "inherit"] });
  return `<li><a href="index.html?scene=${encodeURIComponent(scene)}"><img src="${picture}" width="480" height="320" alt="" loading="lazy"><b>${text(title)}</b><span>${text(about)}</span><code>${text(scene)}</code></a></li>`;
});
writeFileSync(join(folder, "gallery.html"), `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:">
<title>Drystone: gallery</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 74rem; margin: 2rem auto; padding: 0 1rem; }
ul { list-style: none; padding: 0; display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); }
a { color: inherit; text-decoration: none; display: flex; flex-direction: column; }
a:hover b, a:focus b { text-decoration: underline; }
img { width: 100%; height: auto; border-radius: 6px; }
span, code { opacity: 0.75; font-size: 0.9rem; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Drystone</h1>
<p>Simulates what friction holds together. Every scene runs in this browser, with nothing to install: choose one, pull at its bodies.</p>
<ul>
${cards.join("\n")}
</ul>
</body>
</html>
`);
console.log(`${cards.length} scenes in ${join(folder, "gallery.html")}`);
