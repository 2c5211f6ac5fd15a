# SPDX-License-Identifier: MIT
"""What README and manual tell a reader to type is typed here, in the order of each page.

usage: test_manual.py TOOL SOURCE_FOLDER

Fenced blocks, by their language:
  none    lines that begin with `holonom` or `$ ` are commands and must succeed; the other lines of a block with `$ `, and
          a block under one with a single command, are output: each line must be printed, whatever its numbers are.
          A block without commands that does not follow one is a drawing, or is listed below.
  yaml    a whole model (`holonom: 1`) is saved under the name that the page uses next, or checked; a part of one must
          be YAML, and is saved where its first line is a comment with the name of a file.
  python  is run.
C and CMake blocks are the matter of tests/architecture/test_documents.py: they stand in examples/ and tests/install,
which are compiled and run.

Commands that cannot be run here are listed with their reason; a new one has to be added on purpose.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

TOOL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "holonom"
SOURCE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

# a line of a page, or its beginning: why it is not run
NOT_RUN = {
    "make demo": "installs packages; scripts/test-bare-debian runs it",
    "make test": "is the caller of this test",
    "cc hello.c $(pkg-config": "needs the installed package: tests/install",
    "holonom reproduce ": "minutes long; tests/cli/test_reproduce.py",
    "for i in $(seq": "a film needs a browser and ffmpeg",
}
VIEWER_MISSING = "template has not been built"  # without Node the tool has no page to fill

# blocks of output of which the page does not show the command: (page, beginning of the block)
OUTPUT_ONLY = {
    ("assembly.md", "crank.yaml:9:3: joint 'head'"),
    ("loops.md", "crank.yaml:12:3: body 'piston'"),
    ("loops.md", "step 31 at"),
    ("loops.md", "  singular start"),
    ("schemes.md", "  energy "),
}

# what a page needs from an earlier one
NEEDS = {
    "results.md": ["holonom run models/six-body-linkage.yaml"],
    "tool.md": [],
}


def blocks(text):
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def without_numbers(line):
    """A line with its numbers, and what their width decides, taken out."""
    line = re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", line)
    return re.sub(r"[\s█░]+", " ", line).strip()


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holonom-manual-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("models", "examples", "papers"):
            if os.path.exists(os.path.join(SOURCE, name)):
                os.symlink(os.path.join(SOURCE, name), os.path.join(self.folder, name))
        # the tool by the names that the pages use
        os.makedirs(os.path.join(self.folder, "build/bin"))
        os.symlink(TOOL, os.path.join(self.folder, "build/bin/holonom"))
        self.environment = dict(os.environ, PATH=os.path.join(self.folder, "build/bin") + ":" + os.environ["PATH"])

    def type(self, place, command):
        """Run a command of a page; returns what it printed."""
        if any(command.startswith(beginning) for beginning in NOT_RUN):
            return None
        words = shlex.split(command, comments=True)
        self.assertIn(os.path.basename(words[0]), ("holonom",), f"{place}: {command}: what is this?")
        done = subprocess.run(words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        if VIEWER_MISSING in done.stdout:
            print(f"SKIPPED LOUDLY: {place}: {command}: the viewer is not built", file=sys.stderr)
            return None
        self.assertEqual(done.returncode, 0, f"{place}: {command}\n{done.stdout}")
        self.typed += 1
        return done.stdout

    def compare(self, place, shown, printed):
        lines = {without_numbers(line) for line in printed.splitlines()}
        for line in shown:
            if line.strip() in ("", "..."):
                continue
            self.assertIn(without_numbers(line), lines, f"{place}: not printed: {line}\nbut:\n{printed}")

    def shell_block(self, page, place, content):
        lines = content.splitlines()
        prompts = any(line.startswith("$ ") for line in lines)
        if any(content.startswith(beginning) for beginning in NOT_RUN):
            return
        commands = [line for line in lines if re.match(r"\$ |holonom ", line)]
        if not commands:
            if self.printed is not None:
                self.compare(place, lines, self.printed)
            elif not any(page == name and content.startswith(text) for name, text in OUTPUT_ONLY):
                self.assertRegex(content, "[─═│↑→‖]|\\|e\\||nothing", f"{place}: neither commands nor a drawing")
            self.printed = None
            return
        shown = []
        for line in lines + ["$ "]:
            if line.startswith("$ ") or not prompts:
                if shown and self.printed is not None:
                    self.compare(place, shown, self.printed)
                shown = []
                if line != "$ ":
                    self.printed = self.type(place, line[2:] if line.startswith("$ ") else line)
            else:
                shown.append(line)
        if prompts or len(commands) > 1:
            self.printed = None

    def read(self, path):
        page = os.path.basename(path)
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            text = file.read()
        self.printed, self.typed = None, 0
        for command in NEEDS.get(page, []):
            self.type(page, command)
        for line, language, content in blocks(text):
            place = f"{path}:{line}"
            if language == "":
                self.shell_block(page, place, content)
                continue
            self.printed = None
            if language == "yaml" and content.startswith("holonom:"):
                # the name that the page uses afterwards
                rest = text.split(content, 1)[1]
                name = re.search(r"\b(?:run|check|static|modes|linearise|kinematics|inverse) (\w[\w-]*\.yaml)", rest)
                name = name.group(1) if name else "snippet.yaml"
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
                self.type(place, f"holonom check {name}")
            elif language == "python":
                done = subprocess.run([PYTHON, "-c", content], cwd=self.folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, f"{place}: {done.stdout}")
                self.typed += 1
            elif language == "yaml":
                try:
                    yaml.safe_load(content)
                except yaml.YAMLError as error:
                    self.fail(f"{place}: {error}")
                name = re.match(r"# (\w[\w-]*\.yaml)\n", content)  # a file under this name
                if name:
                    with open(os.path.join(self.folder, name.group(1)), "w", encoding="utf-8") as file:
                        file.write(content)
            else:
                self.assertIn(language, ("c", "cmake"), f"{place}: nobody tries this block")
        return self.typed


def page_test(path):
    def test(self):
        self.read(path)
    return test


PAGES = ["README.md"] + [f"docs/manual/{name}" for name in sorted(os.listdir(os.path.join(SOURCE, "docs/manual")))
                         if name.endswith(".md")]
for path in PAGES:
    name = re.sub(r"\W", "_", os.path.basename(path)[:-3]).lower()
    setattr(Page, f"test_{name}", page_test(path))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
