// SPDX-License-Identifier: MIT
// Builds the page's template: script and style inlined into one HTML file, in which `holonom view` puts the data.
//
//   node build.mjs [OUTPUT]     default: dist/viewer.html
import * as esbuild from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2] ?? join(here, "dist", "viewer.html"));

/// Licences of what the page contains, from the packages' own files.
const licences = ["three", "uplot"].map((name) => {
  const folder = join(here, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { name, version, text: readFileSync(join(folder, "LICENSE"), "utf8").trim() };
});

const bundle = await esbuild.build({
  entryPoints: [join(here, "src", "main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome110", "firefox115", "safari16.4"],
  legalComments: "none", // the whole licences are in the page's "about"
  define: { LICENCES: JSON.stringify(licences) },
  write: false,
});
const style = await esbuild.build({
  entryPoints: [join(here, "src", "style.css")],
  bundle: true,
  minify: true,
  write: false,
});

// a function as replacement: the texts hold dollar signs; "</script" would end the element
const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const page = readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("/*style*/", () => style.outputFiles[0].text.trim())
  .replace("/*script*/", () => script.trim());
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
console.log(`${output}: ${(page.length / 1000).toFixed(0)} kB`);
