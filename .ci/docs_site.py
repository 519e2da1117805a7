#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site from docs/ with MkDocs and the theme Material.

    pip install mkdocs-material
    python3 .ci/docs_site.py SITE --page build-web/index.html

Writes SITE/VERSION/, SITE/versions.json, SITE/index.html, which opens the newest version, and, with --page, the web page
with its measurements in SITE/page/. Other versions in SITE stay. The navigation is that of docs/README.md. Files of the
repository that pages link to are part of the site, below files/.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)")
CONFIGURATION = """\
site_name: llmcost
site_description: Exact compute and memory cost of neural networks, from a config.json alone
docs_dir: pages
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.top, search.suggest, content.code.copy]
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      toggle: {icon: material/weather-night, name: Dark mode}
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      toggle: {icon: material/weather-sunny, name: Light mode}
extra:
  version: {provider: mike}
markdown_extensions: [tables, admonition, attr_list, {toc: {permalink: true}}, pymdownx.highlight, pymdownx.superfences]
plugins: [search]
validation: {links: {anchors: warn}}
"""
START = """\
<!DOCTYPE html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={0}/index.html">
<title>llmcost</title>
<a href="{0}/index.html">llmcost {0}</a>
"""


def version() -> str:
    header = (ROOT / "include/llmcost/base/version.hpp").read_text(encoding="utf-8")
    return re.search(r'version = "([0-9.]+)"', header).group(1)


class Pages:
    """Copies pages, with links that are valid inside of the site."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir(parents=True)

    def add(self, source: pathlib.Path, name: str) -> None:
        text = source.read_text(encoding="utf-8")
        parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)  # code blocks at odd indices
        parts[::2] = [LINK.sub(lambda match: self.link(source, match), part) for part in parts[::2]]
        (self.folder / name).write_text("".join(parts), encoding="utf-8")

    def link(self, source: pathlib.Path, match: re.Match) -> str:
        text, target = match.groups()
        path, hash, anchor = target.partition("#")
        if not path or ":" in path:
            return match.group(0)
        linked = (source.parent / path).resolve()
        known = {ROOT / "docs/README.md": "index.md", ROOT / "CHANGELOG.md": "changelog.md", ROOT / "README.md": "index.md"}
        if linked in known:
            return f"[{text}]({known[linked]}{hash}{anchor})"
        if linked.parent == ROOT / "docs" or linked.is_relative_to(ROOT / "docs/pictures"):
            return f"[{text}]({linked.relative_to(ROOT / 'docs')}{hash}{anchor})"
        if not linked.is_file():
            return text  # a folder of the repository
        copy = self.folder / "files" / linked.relative_to(ROOT)
        copy = copy.with_name(copy.name + ".txt")  # shown by browsers, and no page of the site
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(linked, copy)
        return f"[{text}]({copy.relative_to(self.folder)})"


def navigation() -> list:
    """The sections and pages of docs/README.md."""
    sections = [{"Overview": "index.md"}]
    for line in (ROOT / "docs/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            sections.append({line[3:]: []})
        for title, target in LINK.findall(line):
            name = "changelog.md" if target == "../CHANGELOG.md" else target
            if "/" not in name and name.endswith(".md"):
                next(iter(sections[-1].values())).append({title: name})
    return sections


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, help="the built web page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        pages = Pages(work / "pages")
        for page in sorted((ROOT / "docs").glob("*.md")):
            pages.add(page, "index.md" if page.name == "README.md" else page.name)
        pages.add(ROOT / "CHANGELOG.md", "changelog.md")
        shutil.copytree(ROOT / "docs/pictures", work / "pages/pictures")
        (work / "mkdocs.yml").write_text(CONFIGURATION + "nav: " + json.dumps(navigation()) + "\n", encoding="utf-8")
        output = options.site.resolve() / version()
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", work / "mkdocs.yml", "-d", output]
        status = subprocess.run(command).returncode
    if status == 0:
        names = [path.name for path in options.site.iterdir() if re.fullmatch(r"[0-9.]+", path.name)]
        versions = sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
        listed = [{"version": name, "title": name, "aliases": ["latest"] if i == 0 else []} for i, name in enumerate(versions)]
        (options.site / "versions.json").write_text(json.dumps(listed) + "\n", encoding="utf-8")
        (options.site / "index.html").write_text(START.format(versions[0]), encoding="utf-8")
        (options.site / ".nojekyll").touch()
        if options.page:
            (options.site / "page").mkdir(exist_ok=True)
            for name in ("index.html", "measurements.js"):
                shutil.copyfile(options.page.with_name(name), options.site / "page" / name)
    return status


if __name__ == "__main__":
    sys.exit(main())
