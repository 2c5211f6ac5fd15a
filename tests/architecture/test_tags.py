# SPDX-License-Identifier: MIT
"""Equation tags: defined once, a letter or two in one note only; whatever a source cites stands in a note that it, or its
header, names."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[-1])
DEFINITION = re.compile(r"\\tag\{([^}]+)\}|\\text\{\(([A-Z]{1,2}\d+)\)\}|^> \(([A-Z]{1,2}\d+)\)", re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
CITED = re.compile(r"(?<![\w.])\(([A-Z]{1,2}\d+(?:(?:, | and |-)[A-Z]{1,2}\d+)*)[,)]")
NOTE = re.compile(r"docs/theory/([\w-]+)\.md")


def defined(note):
    for found in DEFINITION.finditer(note.read_text()):
        yield from next(filter(None, found.groups())).split(", ")


def cited(source):
    """Tags in comments; a comment that goes on in the next line is one."""
    text = re.sub(r"\n\s*//+", " ", source.read_text())
    for found in CITED.findall(" ".join(COMMENT.findall(text))):
        yield from re.findall(r"[A-Z]{1,2}\d+", found)


failures = []
places = collections.defaultdict(list)
letters = collections.defaultdict(set)
for note in sorted((root / "docs/theory").glob("*.md")):
    for tag in defined(note):
        places[tag].append(note.stem)
        letters[tag.rstrip("0123456789")].add(note.stem)
failures += [f"({tag}) is defined {len(notes)} times: {', '.join(notes)}" for tag, notes in places.items() if len(notes) > 1]
failures += [f"{letter} is used by {', '.join(sorted(notes))}" for letter, notes in letters.items() if len(notes) > 1]

count = 0
for source in sorted(path for folder in ("src", "include", "cli") for path in (root / folder).rglob("*.[ch]")):
    header = source.with_suffix(".h")
    named = set(NOTE.findall(source.read_text() + (header.read_text() if header.exists() else "")))
    failures += [f"{source.relative_to(root)}: there is no docs/theory/{name}.md" for name in sorted(named)
                 if not (root / f"docs/theory/{name}.md").exists()]
    for tag in sorted(set(cited(source))):
        count += 1
        if tag not in places:
            failures.append(f"{source.relative_to(root)}: ({tag}) stands in no note")
        elif places[tag][0] not in named:
            failures.append(f"{source.relative_to(root)}: ({tag}) is of docs/theory/{places[tag][0]}.md, which is not named")

print(f"{len(places)} tags in {len(set().union(*letters.values()))} notes, cited {count} times")
for failure in failures:
    print(failure)
if count < 150:
    failures.append("too few tags found: the patterns of this test no longer fit")
sys.exit(1 if failures else 0)
