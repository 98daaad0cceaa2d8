#!/usr/bin/env python3
"""`make site`: the manual as a static site with a search that needs no server. site/build.py OUTPUT_DIR

Pages are those of docs/, and reference pages made from the schemas, the headers and the Python docstrings. Needs python3
alone. Exits 1 where a link leads nowhere.
"""
import html
import json
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import reference  # noqa: E402
from markdown import Page  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "source/"  # files that pages link to and that are no pages are copied there
HEADERS = ["drystone", "types", "scene_file", "stand", "problem", "solid", "reduce", "touch", "inspect"]
MENU = [
    ("Start", ["start", "gallery", "limits"]),
    ("Guides", ["guide-masonry", "guide-robotics", "guide-graphics", "guide-teaching", "guide-ladder"]),
    ("Use", ["program", "stand", "stand-gallery", "sweep", "compare", "viewer", "touch", "pictures"]),
    ("Scenes", ["scenes", "scene-reference", "sweep-reference", "generators", "shapes", "joints", "deformables"]),
    ("Files", ["recording", "export", "report", "body-files", "problems", "protocol"]),
    ("Python", ["python", "python-reference"]),
    ("C", ["api"] + [f"c-{name}" for name in HEADERS]),
    ("Theory", ["solver", "motion", "notation", "methods/README", "paper"]),
    ("Comparison", ["benchmarks", "layout"]),
]


def sources():
    """Name of a page: (its Markdown, the folder its links are relative to)."""
    pages = {}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        pages[str(path.relative_to(ROOT / "docs").with_suffix(""))] = (path.read_text(), path.parent)
    docs = ROOT / "docs"
    pages["scene-reference"] = (reference.schema_page(
        ROOT / "schema/scene.schema.json", "Scene reference", "Made from the schema of scene files, "
        "[schema/scene.schema.json](../schema/scene.schema.json). [Scene files](scenes.md) explains them."), docs)
    pages["sweep-reference"] = (reference.schema_page(
        ROOT / "schema/sweep.schema.json", "Sweep reference", "Made from the schema of sweep files, "
        "[schema/sweep.schema.json](../schema/sweep.schema.json). [Many runs](sweep.md) explains them."), docs)
    for name in HEADERS:
        pages[f"c-{name}"] = (reference.c_page(ROOT / f"include/drystone/{name}.h"), docs)
    pages["python-reference"] = (reference.python_page(ROOT / "python/drystone"), docs)
    return pages


def address(name):
    """Where a page lies; docs/methods/README becomes methods/index.html."""
    return "index.html" if name == "start" else re.sub(r"README$", "index", name) + ".html"


class Site:
    def __init__(self, output):
        self.output, self.copied, self.links, self.wrong = output, set(), [], []
        self.pages = sources()
        self.rendered = {}

    def linker(self, name, folder):
        """Addresses of a page's links: other pages, or files of the repository, which are copied."""
        up = "../" * name.count("/")

        def link(target):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                if target.startswith("#"):
                    self.links.append((name, name, target[1:]))
                return target
            file, _, place = target.partition("#")
            path = (folder / file).resolve()
            page = None
            if path.suffix == ".md" and ROOT / "docs" in path.parents:
                page = str(path.relative_to(ROOT / "docs").with_suffix(""))
            elif path.suffix == ".md" and path.parent == folder and path.stem in self.pages:
                page = path.stem
            elif path == ROOT / "README.md":
                page = "start"
            if page is None and (folder / file).suffix == ".md" and file[:-3] in self.pages:
                page = file[:-3]
            if page in self.pages:
                self.links.append((name, page, place))
                return up + address(page) + (f"#{place}" if place else "")
            if not path.exists() or ROOT not in path.parents:
                self.wrong.append(f"{name}: {target}: no such file")
                return target
            self.copied.add(path)
            inside = path.relative_to(ROOT)
            return up + (str(inside.relative_to("docs")) if inside.parts[0] == "docs" else REPOSITORY + str(inside))

        return link

    def render(self):
        for name, (text, folder) in self.pages.items():
            self.rendered[name] = Page(text, self.linker(name, folder))
        for source, page, place in self.links:
            if place and place not in {a for _, a, _ in self.rendered[page].sections}:
                self.wrong.append(f"{source}: {page}#{place}: no such heading")
        listed = {name for _, names in MENU for name in names}
        for name in sorted(listed - set(self.pages)):
            self.wrong.append(f"the menu has {name}, which is no page")

    def menu(self, current):
        up, out = "../" * current.count("/"), []
        for title, names in MENU:
            out.append(f"<h2>{title}</h2><ul>")
            for name in names:
                mark = ' class="current" aria-current="page"' if name == current else ""
                label = html.escape(self.rendered[name].title)
                out.append(f'<li><a{mark} href="{up}{address(name)}">{label}</a></li>')
            out.append("</ul>")
        return "\n".join(out)

    def write(self):
        template = (ROOT / "site/page.html").read_text()
        for name, page in self.rendered.items():
            up = "../" * name.count("/")
            inside = [f'<li><a href="#{a}">{html.escape(t)}</a></li>' for t, a, _ in page.sections[1:40]]
            values = {"title": html.escape(page.title), "up": up, "menu": self.menu(name), "body": page.body,
                      "contents": f"<ul>{''.join(inside)}</ul>" if len(inside) > 1 else ""}
            path = self.output / address(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(re.sub(r"\{\{(\w+)\}\}", lambda m: values[m[1]], template))
        for path in sorted(self.copied):
            inside = path.relative_to(ROOT)
            target = self.output / (inside.relative_to("docs") if inside.parts[0] == "docs" else REPOSITORY + str(inside))
            if path.is_dir():
                shutil.copytree(path, target, dirs_exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        for name in ("style.css", "search.js"):
            shutil.copyfile(ROOT / "site" / name, self.output / name)
        index = [[page.title, title, f"{address(name)}#{place}", " ".join(text)[:4000]]
                 for name, page in self.rendered.items() for title, place, text in page.sections]
        # a script, not JSON: pages opened as files cannot fetch
        (self.output / "search-index.js").write_text("const searchIndex = " + json.dumps(index, ensure_ascii=False) + ";\n")


def main():
    output = Path(sys.argv[1])
    if output.exists():
        shutil.rmtree(output)
    output.mkdir(parents=True)
    site = Site(output)
    site.render()
    if site.wrong:
        print("\n".join(site.wrong))
        return 1
    site.write()
    print(f"{output}: {len(site.rendered)} pages, {len(site.copied)} files, "
          f"{sum(len(p.sections) for p in site.rendered.values())} sections in the search")
    return 0


sys.exit(main())
