// SPDX-License-Identifier: MIT
// Runs the tests: bundles the TypeScript of a folder and hands it to Node's own test runner.
//
//   node test.mjs unit
//   HOLONOM_TEST_ONLY=PATTERN picks tests by name
//   node test.mjs e2e TOOL SOURCE [TEMPLATE]     in Chromium; TOOL is the program holonom, SOURCE the source folder
import * as esbuild from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [which = "unit", ...rest] = process.argv.slice(2);
const folder = join(here, which === "e2e" ? "e2e" : "tests");
const output = join(here, "node_modules", ".cache", `holonom-${which}`); // beside the packages, so that they are found
rmSync(output, { recursive: true, force: true });
await esbuild.build({
  entryPoints: readdirSync(folder).filter((name) => name.endsWith(".test.ts")).map((name) => join(folder, name)),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  external: ["playwright-core"],
  define: { LICENCES: "[]" },
  outdir: output,
  outExtension: { ".js": ".test.mjs" },
  logLevel: "warning",
});
const [tool, source, template] = rest;
const only = process.env.HOLONOM_TEST_ONLY;
const files = readdirSync(output).filter((name) => name.endsWith(".mjs")).map((name) => join(output, name));
const { status } = spawnSync(process.execPath, ["--test", ...(only ? [`--test-name-pattern=${only}`] : []), ...files], {
  stdio: "inherit",
  env: { ...process.env, ...(tool && { HOLONOM_TOOL: tool }), ...(source && { HOLONOM_SOURCE: source }),
         ...(template && { HOLONOM_TEMPLATE: template }) },
});
process.exit(status ?? 1);
