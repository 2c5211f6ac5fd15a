# SPDX-License-Identifier: MIT
"""Every link of the site leads somewhere, nothing comes from a network, formulas are drawn.  usage: check.py SITE [CHROMIUM]

Links to other sites are not followed: the check works without a network.
"""

import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse


class Page(html.parser.HTMLParser):
    """Places one can jump to, links, and what the browser loads by itself."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {key: value for key, value in attributes if value is not None}
        self.places |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload") and "href" in given:
            self.loads.append(given["href"])


def check_links(site: pathlib.Path) -> list[str]:
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    problems = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.loads + page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("http", "https", "mailto") or parts.netloc:
                if link in page.loads:
                    problems.append(f"{name}: loads {link} from a network")
                continue
            if parts.scheme in ("data", "javascript"):
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                problems.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
                problems.append(f"{name}: {link}: no such place on that page")
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links")
    return problems


def check_formulas(site: pathlib.Path, chromium: str) -> list[str]:
    """Let a browser draw all formulas of the site on one page; MathJax marks what it cannot read."""
    parts, expected = [], 0
    for path in sorted(site.rglob("*.html")):
        found = re.findall(r'<(span|div) class="math [^"]*"[^>]*>(.*?)</\1>', path.read_text(encoding="utf-8"), re.S)
        if found and "_static" not in path.parts:
            expected += len(found)
            # titles of formulas have a sign of their own: a link, which is none
            texts = [re.sub(r"<[^>]*>.*?</[^>]*>", "", text, flags=re.S) for _, text in found]
            parts.append(f'<h1>{path.relative_to(site)}</h1>' + "".join(f"<div>{text}</div>" for text in texts))
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "formulas.html"
        script = (site / "_static/mathjax.js").resolve().as_uri()
        page.write_text(f'<!doctype html><meta charset="utf-8"><script src="{script}"></script>{"".join(parts)}', encoding="utf-8")
        done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                               f"--user-data-dir={folder}/profile", "--virtual-time-budget=120000", "--dump-dom",
                               page.as_uri()], capture_output=True, text=True, check=False)
    drawn, problems = done.stdout.count("<mjx-container"), []
    if drawn != expected:
        problems.append(f"{drawn} of {expected} formulas were drawn")
    for part in done.stdout.split("<h1>")[1:]:
        for error in sorted(set(re.findall(r'data-mjx-error="([^"]*)"', part))):
            problems.append(f"{part.split('</h1>')[0]}: a formula is wrong: {error}")
    print(f"{drawn} formulas drawn")
    return problems


def main() -> int:
    site = pathlib.Path(sys.argv[1])
    problems = check_links(site)
    if len(sys.argv) > 2:
        problems += check_formulas(site, sys.argv[2])
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
