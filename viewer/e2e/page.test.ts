// SPDX-License-Identifier: MIT
// Pages written by the tool, opened from disk in Chromium: what they show is compared with what the tool exports.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import type { Browser, BrowserContextOptions, Download, Page } from "playwright-core";
import { madeUpPage, swingingBeam } from "../tests/made_up";
// @ts-expect-error: plain JavaScript, which scripts/screenshots runs as it is
import { launch as launchAny, openPage as openAny } from "./browser.mjs";

interface Opened { page: Page; errors: string[]; requests: string[] }
const launch = launchAny as () => Promise<Browser>;
const openPage = openAny as (browser: Browser, path: string, options?: BrowserContextOptions & { hash?: string }) => Promise<Opened>;

const TOOL = process.env.HOLONOM_TOOL!;
const SOURCE = process.env.HOLONOM_SOURCE!;
const TEMPLATE = process.env.HOLONOM_TEMPLATE!;
const PAGE_SIZE_MAX = 15e6; // bytes
const MEASURE_TIME = 4000; // ms
const FRAME_COST_MAX = 8; // ms of script, median
const folder = mkdtempSync(join(tmpdir(), "holonom-viewer-"));
const measured: string[] = [];
let browser: Browser;

before(async () => { browser = await launch(); });
afterEach(async () => { for (const context of browser.contexts()) await context.close(); });
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
  for (const line of measured) console.log(line);
});

// ---- the tool ------------------------------------------------------------------------------------

function holonom(...words: string[]): string {
  return execFileSync(TOOL, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
}

function run(model: string, name: string, ...options: string[]): string {
  holonom("run", model, "--quiet", "--output", join(folder, `${name}.h5`), ...options);
  return join(folder, `${name}.h5`);
}

function view(name: string, ...results: string[]): string {
  const page = join(folder, `${name}.html`);
  holonom("view", ...results, "-o", page);
  const size = statSync(page).size;
  assert.ok(size < PAGE_SIZE_MAX, `${name}: ${size} bytes`);
  measured.push(`page ${name}: ${(size / 1e6).toFixed(2)} MB`);
  return page;
}

/// Columns of a result by `holonom export`.
function exported(result: string, series: string): Record<string, Float64Array> {
  const table = join(folder, "exported.csv");
  holonom("export", result, "--series", series, "--output", table);
  const lines = readFileSync(table, "utf8").trimEnd().split("\n");
  const names = lines[0].split(",");
  const columns = names.map(() => new Float64Array(lines.length - 1));
  for (let i = 1; i < lines.length; ++i) lines[i].split(",").forEach((cell, k) => { columns[k][i - 1] = Number(cell); });
  return Object.fromEntries(names.map((name, k) => [name, columns[k]]));
}

// ---- the page ------------------------------------------------------------------------------------

function assertQuiet({ errors, requests }: Opened): void {
  assert.deepEqual(errors, [], "no messages of errors");
  assert.deepEqual(requests, [], "no requests");
}

async function timeOf(page: Page): Promise<number> {
  return page.evaluate(() => window.holonom!.state.current.time);
}

async function frames(page: Page, count: number): Promise<void> {
  await page.evaluate((n) => new Promise<void>((resolve) => {
    const next = (left: number): void => { if (left === 0) resolve(); else requestAnimationFrame(() => next(left - 1)); };
    next(n);
  }), count);
}

async function setSlider(page: Page, share: number): Promise<void> {
  await page.locator("#time-slider").evaluate((slider: HTMLInputElement, at) => {
    slider.value = String(at * Number(slider.max));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }, share);
  await frames(page, 2);
}

async function position(page: Page, body: string, result = 0): Promise<number[]> {
  return (await page.evaluate(([name, index]) => window.holonom!.position(name as string, index as number), [body, result]))!;
}

function near(found: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(found - expected) <= tolerance, `${what}: ${found}, expected ${expected} within ${tolerance}`);
}

/// Play for a while and take the median time of script in a frame.
async function measureFrames(page: Page, name: string, most = FRAME_COST_MAX): Promise<void> {
  await page.evaluate(() => {
    window.holonom!.state.set({ playing: true });
    window.holonom!.frameCosts.length = 0;
  });
  const begun = Date.now(); // software GL on a busy machine draws few frames a second; their script is what counts
  while (await page.evaluate(() => window.holonom!.frameCosts.length) < (Date.now() - begun < MEASURE_TIME ? 60 : 8))
    await page.waitForTimeout(100);
  const costs = (await page.evaluate(() => [...window.holonom!.frameCosts])).sort((a, b) => a - b);
  await page.evaluate(() => window.holonom!.state.set({ playing: false }));
  const median = costs[costs.length >> 1];
  measured.push(`frame ${name}: median ${median.toFixed(2)} ms, 95 % below ${costs[Math.floor(0.95 * costs.length)].toFixed(2)} ms of script`);
  assert.ok(median < most, `${name}: ${median} ms`);
}

async function saved(page: Page, click: () => Promise<void>): Promise<{ name: string; content: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download") as Promise<Download>, click()]);
  return { name: download.suggestedFilename(), content: readFileSync((await download.path())!) };
}

/// The number that a plot's legend shows for a series.
async function legendValue(page: Page, series: string): Promise<number> {
  const text = await page.locator(`.plot-legend li[title="${series}"] .value`).first().textContent();
  return Number(text!.replaceAll("−", "-"));
}

// ---- tests ---------------------------------------------------------------------------------------

test("the linkage: playing, scrubbing, stepping, known places and values", async () => {
  const result = run(join(SOURCE, "models/six-body-linkage.yaml"), "linkage");
  const opened = await openPage(browser, view("linkage", result));
  const { page } = opened;
  assert.equal(await page.locator("h1").textContent(), "six-body linkage");
  assert.match((await page.locator("#model-line").textContent())!, /6 bodies.*1 redundant constraint.*energy-momentum/);
  const csv = exported(result, "bodies/body3/position,ledger,joints/r1/coordinates");
  const records = csv.time.length, last = csv.time[records - 1];

  // space plays and pauses
  assert.equal(await timeOf(page), 0);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.holonom!.state.current.time > 0.01);
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Pause");
  await page.keyboard.press("Space");
  const stopped = await timeOf(page);
  await frames(page, 5);
  assert.equal(await timeOf(page), stopped, "paused");

  // the slider moves a body to where the file has it
  for (const record of [0, 250, 613, records - 1]) {
    await setSlider(page, csv.time[record] / last);
    near(await timeOf(page), csv.time[record], 1e-5 * last, "time of the slider");
    await page.evaluate((t) => window.holonom!.state.set({ time: t }), csv.time[record]);
    await frames(page, 2);
    const place = await position(page, "body3");
    ["x", "y", "z"].forEach((axis, k) =>
      near(place[k], csv[`bodies/body3/position/${axis}`][record], 1e-8, `${axis} in record ${record}`)); // measured 2e-9 m
    await page.waitForFunction(() => true);
    near(await legendValue(page, "ledger/kinetic"), csv["ledger/kinetic"][record], 1e-6 * 2, "kinetic energy");
    near(await legendValue(page, "joints/r1/coordinates/angle"), csv["joints/r1/coordinates/angle"][record], 2e-5, "angle");
  }

  // arrow keys go from record to record
  await page.keyboard.press("Home");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
  assert.equal(await timeOf(page), csv.time[3]);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await timeOf(page), csv.time[2]);
  await page.keyboard.press("End");
  assert.equal(await timeOf(page), last);

  await measureFrames(page, "linkage");
  assertQuiet(opened);
});

test("the linkage: selecting, following, turning, zooming, by mouse", async () => {
  const opened = await openPage(browser, join(folder, "linkage.html"), { hash: "#time=0.3" });
  const { page } = opened;
  await frames(page, 3);
  // the body whose middle is nearest to the camera's line of sight is found where the page says it is
  const found: string[] = [];
  for (const body of ["body1", "body2", "body3", "body4", "body5"]) {
    const place = (await page.evaluate((name) => window.holonom!.screenPlace(name), body))!;
    await page.mouse.click(place.x, place.y);
    const selected = await page.evaluate(() => {
      const s = window.holonom!.state.current.selected;
      return s && window.holonom!.results[s.result].description.bodies[s.body].name;
    });
    if (selected === body) found.push(body);
  }
  assert.ok(found.length >= 4, `clicked at their middles, found ${found.join(", ")}`); // one may stand behind another
  await page.getByRole("tab", { name: /Values/ }).click();
  await page.locator("#body-choice").selectOption({ label: "body2" });
  assert.equal(await page.locator("#selected-name").textContent(), "body2");
  const csv = exported(join(folder, "linkage.h5"), "bodies/body2/position,bodies/body2/angular_momentum,joints/r1/reaction_force");
  await frames(page, 3);
  const cells = await page.locator("#values-body table").first().locator("tr", { hasText: "position" }).locator("td").allTextContents();
  ["x", "y", "z"].forEach((axis, k) =>
    near(Number(cells[k].replaceAll("−", "-")), csv[`bodies/body2/position/${axis}`][300], 1e-6, `shown ${axis}`));
  const spin = await page.locator("#values-body table").first().locator("tr", { hasText: "angular momentum" }).locator("td").allTextContents();
  ["x", "y", "z"].forEach((axis, k) =>
    near(Number(spin[k].replaceAll("−", "-")), csv[`bodies/body2/angular_momentum/${axis}`][300], 1e-5, `spin ${axis}`));

  // drag turns, wheel zooms
  const where = async (): Promise<{ x: number; y: number }> => (await page.evaluate(() => window.holonom!.screenPlace("body4")))!;
  const canvas = (await page.locator("#view canvas").boundingBox())!;
  const middle = { x: canvas.x + canvas.width / 2, y: canvas.y + canvas.height / 2 };
  const first = await where();
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x + 120, middle.y + 10, { steps: 4 });
  await page.mouse.up();
  await frames(page, 3);
  const turned = await where();
  assert.ok(Math.hypot(turned.x - first.x, turned.y - first.y) > 10, "turned");
  await page.mouse.wheel(0, -400);
  await frames(page, 3);
  const zoomed = await where();
  assert.ok(Math.hypot(zoomed.x - middle.x, zoomed.y - middle.y) > 1.05 * Math.hypot(turned.x - middle.x, turned.y - middle.y), "nearer");

  // double click follows: the body then stays in the middle
  await page.keyboard.press("1");
  await frames(page, 2);
  const target = (await page.evaluate((name) => window.holonom!.screenPlace(name), found[0]))!;
  await page.mouse.dblclick(target.x, target.y);
  await page.evaluate(() => window.holonom!.state.set({ time: 0.8 }));
  await frames(page, 3);
  const followed = (await page.evaluate((name) => window.holonom!.screenPlace(name), found[0]))!;
  near(followed.x, middle.x, 2, "followed, x");
  near(followed.y, middle.y, 2, "followed, y");
  assertQuiet(opened);
});

test("the linkage: plots zoom, take other series, and are saved", async () => {
  const opened = await openPage(browser, join(folder, "linkage.html"));
  const { page } = opened;
  const csv = exported(join(folder, "linkage.h5"), "ledger,joints/r2/rates");
  const over = page.locator(".plot .u-over").first();
  const box = (await over.boundingBox())!;
  // a click sets the time
  await page.mouse.click(box.x + box.width / 2, box.y + 40);
  near(await timeOf(page), 0.5, 0.01, "time by a click into a plot");
  // a drag zooms all plots, a double click shows all
  await page.mouse.move(box.x + 0.25 * box.width, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 50, { steps: 4 });
  await page.mouse.up();
  const range = await page.evaluate(() => window.holonom!.plots.range());
  near(range[0], 0.25, 0.01, "zoom from");
  near(range[1], 0.5, 0.01, "zoom to");
  // the numbers of the zoomed plot are those of the file
  const table = await saved(page, () => page.locator(".plot").first().getByRole("button", { name: "csv" }).click());
  assert.match(table.name, /\.csv$/);
  const rows = table.content.toString().trimEnd().split("\n").map((line) => line.split(","));
  assert.deepEqual(rows[0], ["time", "ledger/kinetic", "ledger/potential", "ledger/energy"]);
  assert.ok(rows.length > 200 && rows.length < 300);
  for (const row of rows.slice(1)) {
    const record = csv.time.indexOf(Number(row[0]));
    assert.ok(record >= 0, "a time of the file");
    near(Number(row[1]), csv["ledger/kinetic"][record], 1e-7, "kinetic");
    near(Number(row[3]), csv["ledger/energy"][record], 1e-15 * 10, "energy, to its last digits"); // it hardly changes
  }
  await over.dblclick();
  assert.deepEqual(await page.evaluate(() => window.holonom!.plots.range()), [0, 1]);
  const svg = await saved(page, () => page.locator(".plot").first().getByRole("button", { name: "svg" }).click());
  assert.match(svg.content.toString(), /^<svg[^]*kinetic[^]*<\/svg>$/);
  const png = await saved(page, () => page.locator(".plot").first().getByRole("button", { name: "png" }).click());
  assert.equal(png.content.subarray(1, 4).toString(), "PNG");
  assert.ok(png.content.length > 10000);
  const picture = await saved(page, () => page.locator("#save-picture").click());
  assert.ok(picture.content.length > 10000);

  // the error of the energy, on a log axis, is that of the ledger's series
  const errors = await page.evaluate(() => Array.from(window.holonom!.results[0].series("derived/energy_error")!.values));
  const scale = await page.evaluate(() => window.holonom!.results[0].description.scales.energy);
  csv["ledger/energy"].forEach((energy, i) =>
    near(errors[i], (energy - csv["ledger/energy"][0] - csv["ledger/external_work"][i]) / scale, 1e-19, `energy error ${i}`));

  // other series by typing
  await page.locator(".plot").first().getByRole("button", { name: "series" }).click();
  await page.locator("#series-filter").fill("r2 rates");
  await page.getByLabel("joints/r2/rates/angle").check();
  await page.keyboard.press("Escape");
  await page.evaluate(() => window.holonom!.state.set({ time: 0.25 }));
  await frames(page, 3);
  const record = csv.time.findIndex((t) => Math.abs(t - 0.25) < 1e-9);
  near(await legendValue(page, "joints/r2/rates/angle"), csv["joints/r2/rates/angle"][record], 1e-4, "rate");
  await page.locator("#plot-presets").selectOption({ label: "Newton iterations" });
  assert.equal(await page.locator(".plot").count(), 5);
  assertQuiet(opened);
});

test("the linkage: ledger, model text, keys alone", async () => {
  const opened = await openPage(browser, join(folder, "linkage.html"));
  const { page } = opened;
  // only the keyboard from here on
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.id) === "tab-plots") break;
  }
  assert.equal(await page.evaluate(() => document.activeElement?.id), "tab-plots");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match((await page.locator("#panel-ledger").innerText()), /energy[^]*kept[^]*joints[^]*kept/);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator(".model-text").textContent(), readFileSync(join(SOURCE, "models/six-body-linkage.yaml"), "utf8"));
  const view_ = (): Promise<Record<string, unknown>> => page.evaluate(() => ({ ...window.holonom!.state.current }) as never);
  const start = await view_();
  for (const [key, what] of [["j", "joints"], ["x", "frames"], ["l", "forces"], ["r", "reactions"], ["g", "grid"], ["n", "labels"]]) {
    await page.keyboard.press(key);
    assert.equal((await view_())[what], !start[what], what);
  }
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  assert.deepEqual((await view_()).selected, { result: 0, body: 1 });
  await page.keyboard.press("f");
  assert.deepEqual((await view_()).follow, { result: 0, body: 1 });
  await page.keyboard.press("Escape");
  assert.equal((await view_()).selected, undefined);
  for (const key of ["1", "2", "3", "4", "Shift+ArrowLeft", "Shift+ArrowUp", "+", "-", "t", "t", "ArrowUp", "ArrowDown", "PageDown"])
    await page.keyboard.press(key);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help-dialog").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help-dialog").isVisible()));
  // every control has a name that is read out
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, select, input")]
    .filter((element) => !(element.textContent?.trim() || element.getAttribute("aria-label") || element.closest("label")))
    .map((element) => element.outerHTML));
  assert.deepEqual(unnamed, []);
  assertQuiet(opened);
});

test("a phone, in the dark", async () => {
  const opened = await openPage(browser, join(folder, "linkage.html"),
                                { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, colorScheme: "dark", deviceScaleFactor: 2 });
  const { page } = opened;
  const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide <= screen, `${wide} px wide on a screen of ${screen}`);
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.ok(paper.match(/\d+/g)!.every((part) => Number(part) < 60), `dark: ${paper}`);
  await page.locator("#play").tap();
  await page.waitForFunction(() => window.holonom!.state.current.time > 0.01);
  await page.locator("#play").tap();
  await page.getByRole("tab", { name: "Ledger" }).tap();
  assert.ok(await page.locator("#panel-ledger").isVisible());
  const small = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>("#timeline button, #toggles button, [role=tab]")]
    .filter((button) => button.offsetParent !== null && button.offsetHeight < 30).length);
  assert.equal(small, 0, "buttons large enough for a finger");
  assertQuiet(opened);
});

test("several results in one picture and side by side", async () => {
  const model = join(SOURCE, "models/six-body-linkage.yaml");
  const other = run(model, "linkage-rattle", "--scheme", "rattle", "--step", "0.004");
  const opened = await openPage(browser, view("two", join(folder, "linkage.h5"), other), { hash: "#time=0.9" });
  const { page } = opened;
  assert.deepEqual(await page.locator("#results .result").allTextContents(), ["energy-momentum", "rattle"]);
  const csv = exported(other, "bodies/body3/position");
  await page.evaluate((t) => window.holonom!.state.set({ time: t }), csv.time[200]);
  await frames(page, 2);
  near((await position(page, "body3", 1))[0], csv["bodies/body3/position/x"][200], 1e-8, "the second result");
  assert.equal(await page.locator(".plot").first().locator("li").count(), 6); // three energies of two results
  await page.locator("#layout").click();
  await frames(page, 2);
  const [left, right] = await page.evaluate(() => [0, 1].map((i) => window.holonom!.screenPlace("body3", i)!.x));
  assert.ok(right - left > 200, "side by side");
  await page.locator("#results input").nth(1).uncheck();
  await frames(page, 2);
  assert.equal(await page.locator(".plot").first().locator("li").count(), 3);
  assertQuiet(opened);
});

test("names that are markup and script are shown as text", async () => {
  const names = ["<img src=x onerror=alert(1)>", "<script>window.hacked = 1<!--", "a'b\"c&amp;-->", "{{7*7}},\\u003cb>"];
  const quote = (text: string): string => JSON.stringify(text);
  const model = `holonom: 1
name: ${quote("</title><script>window.hacked = 2</script>")}
bodies:
${names.map((name, i) => `  ${quote(name)}: {shape: {box: {size: [0.1, 0.1]}}, mass: 1, between: [[${i}, 0, 0], [${i + 1}, 0, 0]]}`).join("\n")}
joints:
${names.map((name, i) => `  ${quote(`<b>${name}`)}: {revolute: {bodies: [${i === 0 ? "ground" : quote(names[i - 1])}, ${quote(name)}], at: [${i}, 0, 0], axis: y}}`).join("\n")}
run: {scheme: energy-momentum, step: 0.005, end: 0.2}
# </script><script>window.hacked = 3</script> <!-- -->
`;
  writeFileSync(join(folder, "hostile.yaml"), model);
  const result = run(join(folder, "hostile.yaml"), "hostile");
  const opened = await openPage(browser, view("hostile", result), { hash: "#tab=values&show=labels" });
  const { page } = opened;
  assert.equal(await page.locator("h1").textContent(), "</title><script>window.hacked = 2</script>");
  for (const [i, name] of names.entries()) {
    await page.evaluate((body) => window.holonom!.state.set({ selected: { result: 0, body } }), i);
    assert.equal(await page.locator("#selected-name").textContent(), name);
    assert.equal(await page.locator("#body-choice option").nth(i + 1).textContent(), name);
  }
  await page.getByRole("tab", { name: "Plots" }).click();
  await page.locator(".plot").first().getByRole("button", { name: "series" }).click();
  await page.locator("#series-filter").fill("onerror");
  assert.ok((await page.locator("#series-list").innerText()).includes("bodies/<img src=x onerror=alert(1)>/position/x"));
  await page.locator("#series-list input").first().check();
  await page.keyboard.press("Escape");
  const svg = await saved(page, () => page.locator(".plot").first().getByRole("button", { name: "svg" }).click());
  assert.ok(!/<img|<script|<b>/.test(svg.content.toString()), "nor in a figure");
  await page.getByRole("tab", { name: "Model" }).click();
  assert.equal(await page.locator(".model-text").textContent(), model);
  assert.equal(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked), undefined);
  assert.equal(await page.locator("body img, #side b").count(), 0);
  assert.equal(readFileSync(join(folder, "hostile.html"), "utf8").includes("hacked"), false, "no text of a model in the markup");
  assertQuiet(opened);
});

test("a thousand bodies", async () => {
  holonom("generate", "chain", "--count", "1000", "--angle", "20", "--output", join(folder, "chain.yaml"));
  const result = run(join(folder, "chain.yaml"), "chain", "--step", "0.002", "--steps", "200");
  const opened = await openPage(browser, view("chain", result));
  const { page } = opened;
  const csv = exported(result, "bodies/link700/position");
  const count = await page.evaluate(() => window.holonom!.results[0].frameTimes.length);
  const stride = Math.ceil((csv.time.length - 1) / (count - 1));
  for (const record of [0, 60 - (60 % stride), csv.time.length - 1]) {
    await page.evaluate((t) => window.holonom!.state.set({ time: t }), csv.time[record]);
    await frames(page, 2);
    const place = await position(page, "link700");
    ["x", "y", "z"].forEach((axis, k) => {
      const column = csv[`bodies/link700/position/${axis}`];
      const range = Math.max(...column) - Math.min(...column);
      near(place[k], column[record], range / 65000 + 1e-12, `${axis} in record ${record}`);
    });
  }
  await measureFrames(page, "1000 bodies");
  await page.keyboard.press("r");
  await page.keyboard.press("x");
  await page.keyboard.press("t");
  await measureFrames(page, "1000 bodies with reactions, frames and 200 trails", 4 * FRAME_COST_MAX);
  assertQuiet(opened);
});

test("a million steps", async () => {
  const result = run(join(SOURCE, "models/pendulum.yaml"), "million", "--steps", "1000000");
  const path = view("million", result);
  const opened = await openPage(browser, path);
  const { page } = opened;
  assert.match((await page.locator("#scene-note").textContent())!, /thinned for this page/);
  assert.match((await page.locator("#ledger-body").textContent())!, /of 1,000,001 records/);
  const csv = exported(result, "energy,kinetic");
  // no extreme is lost by thinning
  for (const name of ["ledger/kinetic", "ledger/energy"]) {
    const shown = await page.evaluate((series) => {
      const { values } = window.holonom!.results[0].series(series)!;
      let low = Infinity, high = -Infinity;
      for (let i = 0; i < values.length; ++i) { low = Math.min(low, values[i]); high = Math.max(high, values[i]); }
      return [low, high];
    }, name);
    const [low, high] = csv[name].reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
    near(shown[0], low, 1e-7 * Math.abs(high - low) + 1e-16, `${name}, least`);
    near(shown[1], high, 1e-7 * Math.abs(high - low) + 1e-16, `${name}, greatest`);
  }
  await measureFrames(page, "1e6 steps");
  rmSync(result);
  assertQuiet(opened);
});

test("beams: swept sections, coloured by what is chosen (made-up data)", async () => {
  const path = join(folder, "beam.html");
  writeFileSync(path, madeUpPage(readFileSync(TEMPLATE, "utf8"), [swingingBeam(20, 201)]));
  const opened = await openPage(browser, path, { hash: "#time=0.5" });
  const { page } = opened;
  assert.deepEqual(await page.locator("#beam-key option").allTextContents(), ["bending moment, N m", "normal force, N", "no colours"]);
  assert.match((await page.locator("#model-line").textContent())!, /1 beam/);
  const pixels = async (): Promise<string> => (await page.locator("#view").screenshot()).toString("base64");
  await frames(page, 3);
  const moments = await pixels();
  await page.locator("#beam-key select").selectOption({ label: "normal force, N" });
  await frames(page, 3);
  assert.notEqual(await pixels(), moments, "other colours");
  await measureFrames(page, "20-element beam (made up)");
  assertQuiet(opened);
});

test("the swing with a beam of 20 elements", async () => {
  const result = run(join(SOURCE, "models/three-bar-swing.yaml"), "swing");
  const opened = await openPage(browser, view("swing", result));
  const { page } = opened;
  assert.match((await page.locator("#model-line").textContent())!, /1 beam of 20 elements/);
  assert.match((await page.locator("#beam-key option").first().textContent())!, /shear force 1, N/);
  const node = await page.evaluate(() => {
    const { beams, bodies } = window.holonom!.results[0].description;
    return bodies[beams[0].node_start + 7].name;
  });
  const csv = exported(result, `bodies/${node}/position`);
  const record = Math.floor(0.6 * csv.time.length);
  await page.evaluate((t) => window.holonom!.state.set({ time: t }), csv.time[record]);
  await frames(page, 2);
  const place = await position(page, node);
  ["x", "y", "z"].forEach((axis, k) => near(place[k], csv[`bodies/${node}/position/${axis}`][record], 1e-7, `node, ${axis}`));
  await measureFrames(page, "20-element swing");
  assertQuiet(opened);
});

test("small and unusual results open", async () => {
  writeFileSync(join(folder, "free.yaml"), `holonom: 1
name: one free ball
gravity: [0, -9.81, 0]
bodies:
  ball: {shape: {sphere: {radius: 0.1}}, density: 1000}
run: {scheme: variational, step: 0.01, end: 0.01}
`);
  const free = run(join(folder, "free.yaml"), "free");
  const planar = run(join(SOURCE, "models/planar-spring.yaml"), "planar", "--steps", "50");
  const crank = run(join(SOURCE, "models/crank.yaml"), "crank", "--steps", "50");
  for (const [name, ...results] of [["free", free], ["planar", planar], ["crank", crank], ["different", planar, crank, free]]) {
    const opened = await openPage(browser, view(name, ...results), { hash: "#show=reactions,frames,labels" });
    await opened.page.keyboard.press("End");
    await frames(opened.page, 3);
    await opened.page.keyboard.press("t");
    await frames(opened.page, 3);
    assertQuiet(opened);
  }
});

test("the header stays a few lines high at every width", async () => {
  const model = join(folder, "long-name.yaml");
  writeFileSync(model, `holonom: 1
name: Free pair of bodies with a name of forty-four letters
gravity: [0, 0, 0]
bodies:
  a: {shape: {box: {size: [1, 0.2, 0.2]}}, density: 1000}
  b: {shape: {box: {size: [1, 0.2, 0.2]}}, density: 1000, position: [1, 0, 0]}
joints: {pin: {revolute: {bodies: [a, b], at: [0.5, 0, 0], axis: z}}}
start: {a: {angular_velocity: [0, 0, 1]}}
run: {step: 0.01, end: 0.1}
`);
  const path = view("long-name", run(model, "long-name"));
  for (const width of [360, 600, 820, 900, 1024, 1100, 1280, 1440, 1600]) {
    const opened = await openPage(browser, path, { viewport: { width, height: 800 } });
    const height = await opened.page.evaluate(() => document.getElementById("top")!.getBoundingClientRect().height);
    assert.ok(height <= 170, `${height} px at ${width}`); // measured 164 at 360, 84 at 900, where it was 1324
    const wide = await opened.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the page is ${wide} px wide at ${width}`);
    await opened.page.context().close();
  }
});

test("pages of kinematics, static and modes do not speak of runs", async () => {
  const model = join(folder, "led.yaml");
  writeFileSync(model, `holonom: 1
name: led
bodies: {a: {shape: {box: {size: [1, 0.2, 0.2]}}, density: 1000, position: [0, 0, -0.5]}}
joints: {pin: {revolute: {bodies: [ground, a], at: [0, 0, 0], axis: y}}}
drives: {turn: {motion: {joint: pin, value: '0.3*sin(t)^2'}}}
outputs: {lean: {coordinate: {joint: pin}}}
run: {step: 0.01, end: 1}
`);
  const still = join(folder, "still.yaml");
  writeFileSync(still, readFileSync(model, "utf8").replace(/drives:.*\n/, "loads: {k: {torsion_spring: {joint: pin, stiffness: 900}}}\n"));
  for (const [kind, from] of [["kinematics", model], ["inverse", model], ["static", still], ["modes", still]]) {
    const result = join(folder, `${kind}.h5`);
    holonom(kind, from, "--output", result);
    const opened = await openPage(browser, view(`of-${kind}`, result));
    await opened.page.click("#tab-ledger");
    const text = await opened.page.evaluate(() => document.getElementById("top")!.innerText + document.querySelector("main")!.innerText);
    assert.ok(!/not complete|Energy error|energy-momentum/.test(text), kind);
    const titles = await opened.page.evaluate(() => window.holonom!.plots.plots.map((plot) => plot.title));
    assert.equal(titles[0], "Outputs", `${kind}: ${titles}`);
    assertQuiet(opened);
  }
});

test("a page whose data are damaged says so", async () => {
  const path = join(folder, "damaged.html");
  writeFileSync(path, readFileSync(join(folder, "linkage.html"), "utf8").replace(/(id="holonom-data-0">.{400}).{4000}/, "$1"));
  const { page } = await openPage(browser, path);
  assert.match((await page.locator("#failure").textContent())!, /cannot be shown/);
});
