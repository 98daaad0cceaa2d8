"""Markdown to HTML: the part of it that the manual uses.

Headings, paragraphs, lists (nested by indentation), tables, fenced and indented code, images, links, `code`, **bold**,
*italic*, and HTML comments, which are dropped. Anchors of headings are those of GitHub, as scripts/check-docs.py checks.
"""
import html
import re
import unicodedata

INLINE = re.compile(r"(?P<code>`+)(?P<inner>.+?)(?P=code)|(?P<image>!?)\[(?P<text>(?:[^\[\]]|!?\[[^\]]*\]\([^)]*\))*)\]\((?P<target>[^)\s]+)\)"
                    r"|\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<italic>[^*\s](?:[^*]*[^*\s])?)\*(?!\w)|\\(?P<escaped>[|_*`\[\]\\#<>])")


def anchor(title, seen):
    """The anchor of a heading, unique in its page."""
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
    name = "".join(c for c in plain if c in " -_" or unicodedata.category(c)[0] in "LN").strip().replace(" ", "-")
    count = seen.get(name, 0)
    seen[name] = count + 1
    return f"{name}-{count}" if count else name


def inline(text, link):
    """Text within a line. `link(target)` gives the address of a link's target."""
    out, at = [], 0
    for m in INLINE.finditer(text):
        out.append(html.escape(text[at:m.start()], quote=False))
        at = m.end()
        if m["code"]:
            out.append(f"<code>{html.escape(m['inner'].strip() if len(m['code']) > 1 else m['inner'], quote=False)}</code>")
        elif m["target"]:
            if m["image"]:
                out.append(f'<img src="{html.escape(link(m["target"]))}" alt="{html.escape(m["text"])}" loading="lazy">')
            else:
                out.append(f'<a href="{html.escape(link(m["target"]))}">{inline(m["text"], link)}</a>')
        elif m["bold"]:
            out.append(f"<strong>{inline(m['bold'], link)}</strong>")
        elif m["italic"]:
            out.append(f"<em>{inline(m['italic'], link)}</em>")
        else:
            out.append(html.escape(m["escaped"]))
    out.append(html.escape(text[at:], quote=False))
    return "".join(out)


def plain(text):
    """The text as it is searched."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"[`*|\\]", " ", text)).strip()


def cells(line):
    return [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


class Page:
    """One page: `body` is its HTML, `title` its first heading, `sections` (title, anchor, text) for the search."""

    def __init__(self, text, link):
        self.link, self.seen, self.sections, self.out = link, {}, [], []
        self.title = ""
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
        self.blocks(text.splitlines())
        self.body = "\n".join(self.out)

    def note(self, text):
        if self.sections:
            self.sections[-1][2].append(plain(text))

    def blocks(self, lines):
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif re.match(r"\s*```", line):
                at = self.fence(lines, at)
            elif re.match(r"#+ ", line):
                at = self.heading(lines, at)
            elif line.lstrip().startswith("|") and at + 1 < len(lines) and re.match(r"\s*\|[\s:|-]+\|\s*$", lines[at + 1]):
                at = self.table(lines, at)
            elif line.startswith("    "):
                at = self.indented(lines, at)
            elif re.match(r"\s*([-*]|\d+\.) ", line):
                at = self.items(lines, at)
            else:
                at = self.paragraph(lines, at)

    def heading(self, lines, at):
        marks, title = lines[at].split(" ", 1)
        name = anchor(title.strip(), self.seen)
        if not self.title:
            self.title = plain(title)
        self.sections.append((plain(title), name, []))
        level = min(len(marks), 6)
        self.out.append(f'<h{level} id="{name}">{inline(title.strip(), self.link)}<a class="here" href="#{name}">#</a></h{level}>')
        return at + 1

    def code(self, text, language=""):
        self.note(text)
        self.out.append(f'<pre class="{html.escape(language)}"><code>{html.escape(text, quote=False)}</code></pre>')

    def fence(self, lines, at):
        language, end = lines[at].strip().strip("`"), at + 1
        while end < len(lines) and not lines[end].strip().startswith("```"):
            end += 1
        self.code("\n".join(lines[at + 1:end]), language)
        return end + 1

    def indented(self, lines, at):
        end = at
        while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
            end += 1
        self.code("\n".join(line[4:] for line in lines[at:end]).rstrip())
        return end

    def table(self, lines, at):
        head, end = cells(lines[at]), at + 2
        rows = []
        while end < len(lines) and lines[end].lstrip().startswith("|"):
            rows.append(cells(lines[end]))
            end += 1
        self.note(" ".join(" ".join(row) for row in [head, *rows]))
        put = self.out.append
        put('<div class="wide"><table>')
        if any(head):
            put("<thead><tr>" + "".join(f"<th>{inline(c, self.link)}</th>" for c in head) + "</tr></thead>")
        put("<tbody>")
        for row in rows:
            put("<tr>" + "".join(f"<td>{inline(c, self.link)}</td>" for c in row) + "</tr>")
        put("</tbody></table></div>")
        return end

    def items(self, lines, at):
        first = re.match(r"(\s*)([-*]|\d+\.) ", lines[at])
        indent, ordered = len(first[1]), first[2][0].isdigit()
        self.out.append("<ol>" if ordered else "<ul>")
        while at < len(lines):
            m = re.match(r"(\s*)([-*]|\d+\.) +(.*)", lines[at])
            if not m or len(m[1]) != indent:
                break
            inner, depth, end = [m[3]], len(lines[at]) - len(m[3]), at + 1
            while end < len(lines):
                blank = not lines[end].strip()
                deep = len(lines[end]) - len(lines[end].lstrip()) > indent
                if blank and not (end + 1 < len(lines) and len(lines[end + 1]) - len(lines[end + 1].lstrip()) > indent):
                    break
                if not blank and not deep and re.match(r"\s*([-*]|\d+\.) |#|\||```", lines[end]):
                    break
                inner.append(lines[end][depth:] if lines[end][:depth].strip() == "" else lines[end].strip())
                end += 1
            self.out.append("<li>")
            self.blocks(inner)
            self.out.append("</li>")
            at = end
            while at < len(lines) and not lines[at].strip() and at + 1 < len(lines) and re.match(r"\s*([-*]|\d+\.) ", lines[at + 1]):
                at += 1
        self.out.append("</ol>" if ordered else "</ul>")
        return at

    def paragraph(self, lines, at):
        end = at + 1
        while end < len(lines) and lines[end].strip() and not re.match(r"#+ |\s*```|\s*\||\s*([-*]|\d+\.) ", lines[end]):
            end += 1
        text = " ".join(line.strip() for line in lines[at:end])
        self.note(text)
        self.out.append(f"<p>{inline(text, self.link)}</p>")
        return end
