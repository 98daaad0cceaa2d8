"""Reference pages as Markdown: scene and sweep files from their schemas, C from the headers, Python from the docstrings."""
import ast
import json
import re


# ---- schemas ---------------------------------------------------------------------------------------------------------

def kind(schema):
    """What a value is, in words."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return f"[{name}](#{name.lower().replace(' ', '-')})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(v)}`" for v in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema and "type" not in schema:
            return " or ".join(dict.fromkeys(kind(s) for s in schema[key]))
    name = schema.get("type", "any value")
    if isinstance(name, list):
        return " or ".join(name)
    if name == "array":
        items = schema.get("items", {})
        inner = kind(items) if isinstance(items, dict) and items else "values"
        low, high = schema.get("minItems"), schema.get("maxItems")
        size = f"{low} " if low is not None and low == high else ""
        return f"array of {size}{inner}"
    bounds = []
    for key, word in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<")):
        if key in schema:
            bounds.append(f"{word} {schema[key]:g}")
    return f"{name} {', '.join(bounds)}".strip()


def clean(text):
    return text.replace("|", "\\|").replace("\n", " ")


def fields(out, schema):
    """The table of an object's keys."""
    properties = dict(schema.get("properties", {}))
    required = set(schema.get("required", []))
    if not properties:
        return
    out.append("| key | value | default | |\n|---|---|---|---|")
    for key, value in properties.items():
        default = f"`{json.dumps(value['default'])}`" if "default" in value else "required" if key in required else ""
        out.append(f"| `{clean(key)}` | {clean(kind(value))} | {clean(default)} | {clean(value.get('description', ''))} |")
    out.append("")


def describe(out, name, schema, level):
    out.append(f"{'#' * level} {name}\n")
    if schema.get("description"):
        out.append(schema["description"] + "\n")
    variants = [s for key in ("oneOf", "anyOf", "allOf") for s in schema.get(key, [])]
    if "properties" in schema:
        fields(out, schema)
    elif not variants:
        out.append(kind(schema) + "\n")
    for variant in variants:
        if variant.get("properties"):
            if variant.get("title") or variant.get("description"):
                out.append(f"{variant.get('title') or variant['description']}\n")
            fields(out, variant)
        elif "$ref" in variant or "type" in variant:
            out.append(f"- {kind(variant)} {variant.get('description', '')}")
    out.append("")


def schema_page(path, title, more):
    schema = json.loads(path.read_text())
    out = [f"# {title}\n", more + "\n"]
    describe(out, "The file", {k: v for k, v in schema.items() if k not in ("title", "description")}, 2)
    for name, definition in (schema.get("definitions") or schema.get("$defs") or {}).items():
        describe(out, name, definition, 2)
    return "\n".join(out)


# ---- C ---------------------------------------------------------------------------------------------------------------

def comment_text(lines):
    text = " ".join(line.strip() for line in lines)
    return re.sub(r"\s+", " ", re.sub(r"^/\*+|\*/$|(?<=\s)\*(?=\s)", "", text)).strip()


def blocks_of(text):
    """Yields (comment, declaration) of a header, in order; sections are comments like /* ---- name ---- */."""
    lines, at, comment = text.splitlines(), 0, []
    while at < len(lines):
        line = lines[at].rstrip()
        if line.startswith("/*"):
            start = at
            while "*/" not in lines[at]:
                at += 1
            comment = lines[start:at + 1]
            at += 1
            if at < len(lines) and not lines[at].strip():
                yield comment_text(comment), ""
                comment = []
        elif not line.strip() or line.startswith(("#if", "#endif", "#include", "#ifndef", 'extern "C"', "}")) and line in (
                "", "}") or line.startswith(("#if", "#endif", "#include", 'extern "C"')):
            comment = [] if not line.strip() else comment
            at += 1
        else:
            start, depth = at, 0
            while at < len(lines):
                body = re.sub(r"/\*.*?\*/", "", lines[at])
                depth += body.count("{") - body.count("}") + body.count("(") - body.count(")")
                ended = depth <= 0 and (body.rstrip().endswith((";", "}")) or (lines[start].startswith("#define") and not body.endswith("\\")))
                at += 1
                if ended:
                    break
            yield comment_text(comment) if comment else "", "\n".join(lines[start:at])
            comment = []


def name_of(declaration):
    for pattern in (r"^#define (\w+)", r"^typedef (?:struct|enum|union) (\w+)", r"(\w+)\s*\(", r"(\w+);$"):
        m = re.search(pattern, declaration, flags=re.M)
        if m:
            return m[1]
    return declaration.split()[-1]


def c_page(path):
    """A header: comments as text, the declarations that follow a comment as one block under the name of the first."""
    out, group, heading = [f"# {path.name}\n", f"`#include <drystone/{path.name}>`\n"], [], None

    def finish():
        if not group:
            return
        names = list(dict.fromkeys(name_of(d) for d in group))
        out.append(f"### {', '.join(names[:3])}\n")
        if heading:
            out.append(heading + "\n")
        out.append("```c\n" + "\n".join(group) + "\n```\n")
        group.clear()

    for comment, declaration in blocks_of(path.read_text()):
        if declaration and re.fullmatch(r"DRYSTONE(_\w+)?_H", name_of(declaration)):
            out.append(comment + "\n")  # what the header is
            continue
        section = re.match(r"-{2,}\s*(.*?)\s*-{2,}$", comment)
        if comment or not declaration or len(group) >= 8:
            finish()
            heading = comment if declaration and not section else None
        if section:
            out.append(f"## {section[1]}\n")
        if declaration:
            group.append(declaration)
        elif not section:
            out.append(f"{comment}\n")
    finish()
    return "\n".join(out)


# ---- Python ----------------------------------------------------------------------------------------------------------

def signature(node):
    text = f"def {node.name}({ast.unparse(node.args)})"
    return text + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def doc_of(node):
    text = ast.get_docstring(node) or ""
    return re.sub(r"^(\s*)>>>", r"\1    >>>", text, flags=re.M)


def describe_function(out, node, level, prefix=""):
    plain = prefix + node.name
    is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
    out.append(f"{'#' * level} {plain}\n")
    shown = f"{plain}: {ast.unparse(node.returns)}" if is_property and node.returns else plain if is_property else signature(node)
    out.append(f"```python\n{shown}\n```\n")
    if doc_of(node):
        out.append(doc_of(node) + "\n")


def python_page(folder):
    out = ["# Python reference\n", "`import drystone`. [Python](python.md) is the introduction; this page is made from the "
           "docstrings.\n"]
    for path in sorted(folder.glob("*.py")):
        if path.name.startswith("_") and path.name != "__init__.py":
            continue
        tree = ast.parse(path.read_text())
        public = [n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and not n.name.startswith("_")]
        if not public and path.name != "__init__.py":
            continue
        out.append(f"## {'drystone' if path.stem == '__init__' else 'drystone.' + path.stem}\n")
        if doc_of(tree):
            out.append(doc_of(tree) + "\n")
        for node in public:
            if isinstance(node, ast.FunctionDef):
                describe_function(out, node, 3)
                continue
            out.append(f"### {node.name}\n")
            if doc_of(node):
                out.append(doc_of(node) + "\n")
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and (not member.name.startswith("_") or member.name == "__init__"):
                    describe_function(out, member, 4, node.name + ".")
    return "\n".join(out)
