// SPDX-License-Identifier: MIT
// The page of a study, made by the tool and opened from disk in Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
// @ts-expect-error: plain JavaScript, which scripts/screenshots runs as it is
import { launch as launchAny, openPage as openAny } from "./browser.mjs";

const launch = launchAny as () => Promise<Browser>;
const openPage = openAny as (browser: Browser, path: string) => Promise<{ page: Page; errors: string[]; requests: string[] }>;
const folder = mkdtempSync(join(tmpdir(), "holonom-study-"));
let browser: Browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const MODEL = `holonom: 1
parameters: {length: 1, mass: 1}
bodies: {bob: {point_mass: {mass: mass, plane_normal: y}, position: [length, 0, 0]}}
joints: {rod: {distance: {bodies: [ground, bob], from: [0, 0, 0], to: [length, 0, 0]}}}
run: {step: 0.01, end: 0.2}
`;
const STUDY = `holonom_study: 1
name: "Rods <b>and</b> bobs"
model: swing.yaml
parameters: {length: {grid: {from: 1, to: 2, count: 8}}, mass: {grid: [1, 2, -1]}}
outputs: {energy: {of: kinetic_energy, at: end}, z: {of: bodies/bob/position/z, keep: minimum}}
`;

test("a study shows its figures, its table and what failed", async () => {
  writeFileSync(join(folder, "swing.yaml"), MODEL);
  writeFileSync(join(folder, "study.yaml"), STUDY.replace("kinetic_energy", "bodies/bob/velocity/z"));
  const tool = (...words: string[]): string => execFileSync(process.env.HOLONOM_TOOL!, words, { cwd: folder, encoding: "utf8" });
  tool("study", "study.yaml", "--quiet");
  tool("view", "study.h5", ...(process.env.HOLONOM_TEMPLATE ? ["--template", process.env.HOLONOM_TEMPLATE] : []));
  const { page, errors, requests } = await openPage(browser, join(folder, "study.html"));
  assert.deepEqual([errors, requests], [[], []]);
  assert.equal(await page.textContent("#model-name"), "Rods <b>and</b> bobs"); // as text
  assert.equal(await page.textContent("#badges .badge"), "8 failed");
  assert.equal(await page.locator(".study-figure").count(), 4); // histogram, two parameters, surface
  assert.equal(await page.locator(".study-table tbody tr").count(), 24);
  assert.equal(await page.locator(".failed-row").count(), 8);
  assert.match((await page.textContent(".failed-row .study-message"))!, /mass/);
  // how it falls does not depend on its mass
  const shares = await page.evaluate(() => [...window.holonomStudy!.shares().values()]);
  assert.ok(shares[1] < 0.01, String(shares));
  await page.selectOption(".study-tools select", { index: 1 });
  assert.ok((await page.textContent(".study-figures"))!.includes("z, m"));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=save as CSV")]);
  const lines = readFileSync((await download.path())!, "utf8").trim().split("\n");
  assert.equal(lines.length, 25);
  assert.equal(lines[0], "member,length,mass,energy,z,failed,message");
});
