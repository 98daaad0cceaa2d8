// Search of the manual: all words of the query, in any order; titles count most. The index is search-index.js.
"use strict";

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_.]+|-{1,2}[\p{L}\p{N}-]+/gu) ?? [];

// Entries of the index that have every word, best first: [page, title, address, text].
function find(index, query, most = 12) {
  const wanted = words(query);
  if (wanted.length === 0) return [];
  const found = [];
  for (const entry of index) {
    const page = entry[0].toLowerCase(), title = entry[1].toLowerCase(), text = entry[3].toLowerCase();
    let score = 0;
    for (const word of wanted) {
      const here = (title === word ? 60 : 0) + (title.includes(word) ? 20 : 0) + (page.includes(word) ? 8 : 0) +
        Math.min(5, text.split(word).length - 1);
      if (here === 0) { score = 0; break; }
      score += here;
    }
    if (score > 0) found.push([score, entry]);
  }
  return found.sort((a, b) => b[0] - a[0]).slice(0, most).map((f) => f[1]);
}

// The part of a text around the first word that is found in it.
function excerpt(text, query, length = 140) {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...words(query).map((w) => lower.indexOf(w)).filter((i) => i >= 0), text.length) - 40);
  return (at > 0 ? "…" : "") + text.slice(at, at + length) + (at + length < text.length ? "…" : "");
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

function marked(text, query) {
  let out = escaped(text);
  for (const word of words(query)) {
    const safe = escaped(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    out = out.replace(new RegExp(`(${safe})(?![^<]*>)`, "gi"), "<mark>$1</mark>");
  }
  return out;
}

function start() {
  const input = document.getElementById("search"), list = document.getElementById("found");
  let chosen = -1;
  const choose = (n) => {
    const links = [...list.querySelectorAll("a")];
    chosen = links.length === 0 ? -1 : (n + links.length) % links.length;
    links.forEach((a, i) => a.classList.toggle("chosen", i === chosen));
    links[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const found = find(searchIndex, input.value);
    list.hidden = words(input.value).length === 0;
    list.innerHTML = found.map(([page, title, address, text]) =>
      `<li><a href="${root}${escaped(address)}">${marked(title, input.value)}` +
      `<small>${escaped(page)} · ${marked(excerpt(text, input.value), input.value)}</small></a></li>`).join("") ||
      "<li><small>Nothing found</small></li>";
    choose(0);
  };
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1), event.preventDefault();
    if (event.key === "ArrowUp") choose(chosen - 1), event.preventDefault();
    if (event.key === "Enter") list.querySelectorAll("a")[chosen]?.click();
    if (event.key === "Escape") list.hidden = true, input.blur();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) input.focus(), event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) list.hidden = true; });
  const button = document.getElementById("menu-button"), menu = document.getElementById("menu");
  button.addEventListener("click", () => button.setAttribute("aria-expanded", String(menu.classList.toggle("open"))));
  const query = new URLSearchParams(location.search).get("q");
  if (query) input.value = query, show();
}

if (typeof document !== "undefined") start();
if (typeof module !== "undefined") module.exports = { find, excerpt };
