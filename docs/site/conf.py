# SPDX-License-Identifier: MIT
"""The site: every document of the repository, the references of C and Python, notebooks that are run while it is built.

The source folder is the repository itself, so that links mean the same here as in a checkout; scripts/docs builds it.
"""

import pathlib
import re
import sys

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import c_reference  # noqa: E402

import holonom  # noqa: E402

project = "Holonom"
copyright = "the Holonom authors, MIT licence"
release = version = holonom.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]

root_doc = "docs/index"
include_patterns = ["docs/**.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "python/README.md", "src/README.md",
                    "benchmarks/*/README.md", "examples/*/README.md", "viewer/README.md"]
exclude_patterns = ["build", "viewer/node_modules", ".git", "python/src"]

html_theme = "furo"
html_title = f"Holonom {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["root"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

# formulas: MathJax beside the pages, one file without fonts; nothing comes from a network
mathjax_path = "mathjax.js"
mathjax3_config = {"svg": {"fontCache": "global"}}
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
myst_linkify_fuzzy_links = False

# notebooks are run anew; one that fails stops the build
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_show_tb = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_type_aliases = {"Number": "Number", "Vector": "Vector", "Direction": "Direction", "Function": "Function"}
python_use_unqualified_type_names = True
# models of other pages
suppress_warnings = ["config.cache", "mystnb.unknown_mime_type"]
highlight_language = "none"
default_role = "code"


class FormulasAsWritten(SphinxTransform):
    """Display formulas reach MathJax as they are: with their own environments and tags."""

    default_priority = 900

    def apply(self, **kwargs: object) -> None:
        for node in self.document.findall(nodes.math_block):
            if not node.get("no-wrap") and not node.get("nowrap"):
                text = "\\[" + node.astext() + "\\]"
                node["no-wrap"] = node["nowrap"] = True
                node.children = [nodes.Text(text)]
                node.rawsource = text


def pictures_in_gallery(app: Sphinx, error: Exception | None) -> None:
    """Beside each notebook in their list the last picture that it drew."""
    folder = pathlib.Path(app.outdir) / "docs/notebooks"
    if error is not None or not (folder / "index.html").exists():
        return

    def picture(match: re.Match[str]) -> str:
        drawn = re.findall(r'<img[^>]* src="([^"]*_images/[^"]*)"', (folder / match.group(1)).read_text(encoding="utf-8"))
        shown = f'<br><img src="{drawn[-1]}" alt="" style="max-width: 22em; max-height: 9em">' if drawn else ""
        return match.group(0) + shown

    page = (folder / "index.html").read_text(encoding="utf-8")
    found = re.sub(r'<td><p><a class="reference internal" href="([\w-]+\.html)">.*?</a>', picture, page, flags=re.S)
    (folder / "index.html").write_text(found, encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("build-finished", pictures_in_gallery)
    app.connect("source-read", c_reference.expand)
    app.add_transform(FormulasAsWritten)
