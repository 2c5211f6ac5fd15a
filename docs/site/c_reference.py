# SPDX-License-Identifier: MIT
"""The C reference: what a public header declares, with the comments that stand there, as a part of a page."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

from sphinx.application import Sphinx

_SKIPPED = re.compile(r"#(if|ifdef|ifndef|endif|else|include|undef)\b|extern \"C\"|}\s*$|#define (HOLONOM_\w+_H|HN_API|HN_NODISCARD|HN_PRINTF)\b")


def name_of(declaration: str) -> str:
    """What a declaration declares: "hn_model_load", "hn_body_def"."""
    code = re.sub(r"//.*", "", declaration)
    for pattern in (r"^\s*typedef\s+(?:struct|enum)\s+(\w+)", r"\(\*(hn_\w+)\)\(", r"^\s*#define\s+(\w+)", r"\b(hn_\w+)\s*\("):
        found = re.search(pattern, code)
        if found:
            return found.group(1)
    raise ValueError(f"no name in {declaration!r}")


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """("section", title, "") and ("declaration", comment, code) of a header, in order."""
    lines = iter(text.splitlines())
    comment: list[str] = []
    prose: list[str] = []
    for line in lines:
        section = re.match(r"// -{2,} (.*?) -{2,}$", line)
        if section:
            yield "section", section.group(1), ""
            comment, prose = [], []
        elif line.startswith("///"):
            comment.append(line[3:].removeprefix(" "))
        elif line.startswith("//"):
            prose += [] if "SPDX" in line else [line[2:].strip()]
        elif not line.strip():
            if prose:
                yield "prose", " ".join(prose), ""
            comment, prose = [], []
        elif _SKIPPED.match(line):
            continue
        else:
            if prose:
                yield "prose", " ".join(prose), ""
                prose = []
            code = [line]
            while not ended(code):
                code.append(next(lines))
            yield "declaration", "\n".join(comment), "\n".join(code)
            comment = []


def ended(code: list[str]) -> bool:
    """Is a declaration complete?"""
    if code[0].lstrip().startswith("#define"):
        return not code[-1].rstrip().endswith("\\")
    bare = [re.sub(r"//.*", "", line).rstrip() for line in code]
    whole = "\n".join(bare)
    return whole.count("{") == whole.count("}") and whole.endswith(";")


def escaped(comment: str) -> str:
    """A comment as Markdown: names as code, the rest as it is."""
    comment = re.sub(r"(?m)^\s*@param (\w+)", r"\n`\1`:", comment)
    comment = re.sub(r"\s*@return ", "\n\nReturns ", comment)
    parts = re.split(r"(`[^`]*`)", comment)
    for i in range(0, len(parts), 2):
        part = re.sub(r"([*_<>$|\[\]])", r"\\\1", parts[i])
        parts[i] = re.sub(r"\b((?:hn|HN)(?:\\_\w+)+)", lambda m: "`" + m.group(1).replace("\\", "") + "`", part)
    return "".join(parts)


def document(header: pathlib.Path) -> str:
    """Everything a header declares, as Markdown from a heading of the second level on."""
    out = [f"## `holonom/{header.name}`", ""]
    level = "###"
    for kind, words, code in pieces(header.read_text(encoding="utf-8")):
        if kind == "section":
            out += [f"### {words[0].upper()}{words[1:]}", ""]
            level = "####"
        elif kind == "prose":
            out += [escaped(words), ""]
        else:
            code = re.sub(r"\bHN_(API|NODISCARD) ", "", code)
            out += [f"{level} `{name_of(code)}`", "", escaped(words), "", "```c", code, "```", ""]
    return "\n".join(out)


def expand(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the headers of a folder in the place of the block that names it: ```{c-headers} include/holonom```."""

    def found(match: re.Match[str]) -> str:
        headers = sorted((pathlib.Path(app.srcdir) / match.group(1)).glob("*.h"))
        for header in headers:
            app.env.note_dependency(str(header))
        order = {word: i for i, word in enumerate(("base", "model", "assembly", "simulation", "statics", "results"))}
        headers = [header for header in headers if header.stem != "holonom"]  # which includes the others
        return "\n".join(document(h) for h in sorted(headers, key=lambda h: (order.get(h.stem, len(order)), h.stem)))

    source[0] = re.sub(r"^```\{c-headers\} (\S+)\n```$", found, source[0], flags=re.M)
