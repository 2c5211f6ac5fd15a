// SPDX-License-Identifier: MIT
// The page: reads its data, builds scene, plots and panels, and runs the clock.
import { readPage, type Result } from "./data/result";
import { byId, fileName, make, saveFile } from "./dom";
import { errorText, shortNumber, withUnit } from "./numbers";
import { showAbout } from "./panels/about";
import { Controls } from "./panels/controls";
import { bindKeys, nextTrails, type Toggle } from "./panels/keys";
import { runLine, showLedger, structureLine, thinningNote } from "./panels/ledger";
import { showModel } from "./panels/model";
import { isTab, Tabs } from "./panels/tabs";
import { Values } from "./panels/values";
import { Plots } from "./plots/plots";
import { scalarRange } from "./scene/beams";
import { PRESETS as CAMERAS, type Preset } from "./scene/camera";
import { SCALE_GRADIENT, seriesColour } from "./scene/colours";
import { Scene } from "./scene/scene";
import { START_VIEW, State, type Selection, type View } from "./state";
import { showStudy } from "./study/page";
import { readStudy } from "./study/table";

const VALUES_INTERVAL = 100; // ms between two updates of numbers while playing
const CLICK_RANGE = 4; // px
const COSTS_KEPT = 2000; // frames whose cost is remembered
const LONGEST_FRAME = 0.25; // s; after a pause of the browser the motion does not jump

/// What scripts and tests may use, as `window.holonom`.
export interface PageInterface {
  results: Result[];
  state: State;
  plots: Plots;
  /// Place of a body's centre of mass at the time shown, m.
  position: (body: string, result?: number) => number[] | undefined;
  /// Place of a body in the picture, px of the page.
  screenPlace: (body: string, result?: number) => { x: number; y: number } | undefined;
  /// Milliseconds of script in the frames drawn last.
  frameCosts: number[];
}

declare global {
  interface Window { holonom?: PageInterface }
}

function showTitles(results: Result[]): void {
  const { description } = results[0];
  const many = results.length > 1;
  document.title = `${description.model.name} · Holonom`;
  byId("model-name").textContent = description.model.name;
  byId("model-line").textContent = many ? `${structureLine(description)} · ${results.length} results`
    : `${structureLine(description)} · ${runLine(description)}`;
  if (many) return;
  for (const entry of description.ledger) {
    if (!entry.conserved) continue;
    const error = errorText(entry.error, 0);
    byId("badges").append(make("span", `badge ${entry.kept ? "kept" : "broken"}`,
      { title: `${entry.name.replaceAll("_", " ")}: worst error over the run` },
      `${entry.name.replaceAll("_", " ")} `, make("b", "", {}, withUnit(error, entry.unit))));
  }
}

function showSceneNote(results: Result[], scene: Scene): void {
  const { description } = results[0];
  const gravity = Math.hypot(...description.model.gravity);
  const notes = [`grid ${shortNumber(scene.ground.gridStep)} m`];
  if (gravity > 0) notes.unshift(`gravity ${shortNumber(gravity)} m/s²`);
  const thinned = results.map((result) => thinningNote(result.description)).find((note) => note !== "");
  byId("scene-note").append(make("span", "", {}, notes.join(" · ")));
  if (thinned !== undefined) byId("scene-note").append(make("span", "thinned", { title: thinned }, "thinned for this page"));
}

function bindResults(results: Result[], state: State): void {
  if (results.length < 2) return;
  byId("layout").hidden = false;
  byId("layout").addEventListener("click", () =>
    state.set({ layout: state.current.layout === "overlaid" ? "side by side" : "overlaid" }));
  for (const { description, index } of results) {
    const box = make("input", "", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      const hidden = new Set(state.current.hidden);
      if (box.checked) hidden.delete(index);
      else hidden.add(index);
      state.set({ hidden });
    });
    const label = make("label", "result", {}, box, make("span", "swatch"), make("span", "", {}, description.label));
    label.style.setProperty("--swatch", seriesColour(index));
    byId("results").append(label);
  }
}

function bindBeams(results: Result[], state: State): void {
  const result = results.find((candidate) => candidate.description.beams.length > 0);
  if (result === undefined || result.description.beam_scalars.length === 0) return;
  const key = byId("beam-key");
  const choice = make("select", "", { ariaLabel: "Colour of beams" });
  result.description.beam_scalars.forEach((scalar, i) => choice.append(new Option(withUnit(`${scalar.name},`, scalar.unit), String(i))));
  choice.append(new Option("no colours", "-1"));
  // the moment that changes most, if there is one
  const ranges = result.description.beam_scalars.map(({ unit }, i) => {
    const [least, greatest] = scalarRange(result, i);
    return unit === "N m" ? greatest - least : 0;
  });
  state.set({ beamScalar: Math.max(0, ranges.indexOf(Math.max(...ranges))) });
  choice.value = String(state.current.beamScalar);
  const bar = make("span", "bar"), low = make("span"), high = make("span");
  bar.style.background = SCALE_GRADIENT;
  const show = (): void => {
    const scalar = state.current.beamScalar;
    const [least, greatest] = scalarRange(result, scalar);
    low.textContent = scalar < 0 ? "" : shortNumber(least, 3);
    high.textContent = scalar < 0 ? "" : shortNumber(greatest, 3);
    bar.hidden = scalar < 0;
  };
  choice.addEventListener("change", () => {
    state.set({ beamScalar: Number(choice.value) });
    show();
  });
  key.append(choice, low, bar, high);
  key.hidden = false;
  show();
}

function bindToggles(state: State, scene: Scene): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("[data-toggle]")];
  for (const button of buttons)
    button.addEventListener("click", () => {
      const what = button.dataset.toggle as Toggle;
      state.set({ [what]: !state.current[what] });
    });
  byId("trails").addEventListener("click", () => state.set({ trails: nextTrails(state.current.trails) }));
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-camera]"))
    button.addEventListener("click", () => {
      state.set({ follow: undefined });
      scene.camera.take(button.dataset.camera as Preset);
    });
  const show = (view: Readonly<View>): void => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(view[button.dataset.toggle as Toggle]));
    byId("trails").textContent = `trail: ${{ none: "none", selected: "one", all: "all" }[view.trails]}`;
    byId("layout").textContent = view.layout === "overlaid" ? "side by side" : "overlaid";
  };
  state.on((view, changed) => { if (!changed.has("time") || changed.size > 1) show(view); });
  show(state.current);
}

/// Click selects, double click follows, the name of the body under the pointer is shown.
function bindPointer(results: Result[], state: State, scene: Scene): void {
  const { canvas } = scene;
  const hover = byId("hover");
  let from = { x: 0, y: 0 };
  let waiting = false;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, y: event.clientY };
    hover.hidden = true;
  });
  canvas.addEventListener("click", (event) => {
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK_RANGE) return;
    const { x, y } = place(event);
    state.set({ selected: scene.pick(x, y) });
  });
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    const body = scene.pick(x, y);
    state.set({ selected: body ?? state.current.selected, follow: body });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons !== 0 || event.pointerType === "touch" || waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const { x, y } = place(event);
      const body = state.current.playing ? undefined : scene.pick(x, y);
      hover.hidden = body === undefined;
      if (body === undefined) return;
      hover.textContent = results[body.result].description.bodies[body.body].name;
      hover.style.transform = `translate(${x + 14}px, ${y + 12}px)`;
    });
  });
  canvas.addEventListener("pointerleave", () => { hover.hidden = true; });
}

/// Light or dark: as the address asks, as chosen with the button, or as the system has it.
function bindTheme(changed: () => void): void {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const asked = new URLSearchParams(location.hash.slice(1)).get("theme");
  let chosen = asked === "dark" || asked === "light";
  root.dataset.theme = chosen ? asked! : system.matches ? "dark" : "light";
  byId("theme-button").addEventListener("click", () => {
    chosen = true;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    changed();
  });
  system.addEventListener("change", () => {
    if (chosen) return;
    root.dataset.theme = system.matches ? "dark" : "light";
    changed();
  });
}

/// The body that moves most: its path is shown until another one is selected.
function liveliestBody(result: Result): Selection | undefined {
  const motion = result.table("motion");
  if (motion === undefined) return undefined;
  let best: Selection | undefined, longest = 0;
  const stride = Math.max(1, Math.floor(motion.columns / 100));
  for (let body = 0; body < motion.rows / 7; ++body) {
    const [x, y, z] = [0, 1, 2].map((k) => motion.row(7 * body + k));
    let length = 0;
    for (let i = stride; i < motion.columns; i += stride)
      length += Math.hypot(x[i] - x[i - stride], y[i] - y[i - stride], z[i] - z[i - stride]);
    if (length > longest) {
      longest = length;
      best = { result: result.index, body };
    }
  }
  return best;
}

/// Play once from the start and save what the picture showed.
function recordVideo(results: Result[], state: State, scene: Scene, controls: Controls): void {
  const recorder = new MediaRecorder(scene.canvas.captureStream(60), { videoBitsPerSecond: 8e6 });
  const pieces: Blob[] = [];
  recorder.ondataavailable = (event): void => { pieces.push(event.data); };
  const { loop } = state.current;
  recorder.onstop = (): void => {
    saveFile(fileName(results[0].description.model.name, "webm"), new Blob(pieces, { type: "video/webm" }));
    state.set({ loop });
    byId("record").setAttribute("aria-pressed", "false");
  };
  byId("record").setAttribute("aria-pressed", "true");
  state.set({ time: controls.start, loop: false });
  recorder.start();
  state.set({ playing: true });
  state.on((view, changed) => {
    if (changed.has("playing") && !view.playing && recorder.state === "recording") recorder.stop();
  });
}

/// What the address asks for: page.html#time=0.5&camera=top&tab=ledger&select=link3&show=reactions&theme=dark
function readAddress(results: Result[], state: State, scene: Scene, tabs: Tabs, controls: Controls): void {
  const asked = new URLSearchParams(location.hash.slice(1));
  const time = Number(asked.get("time") ?? NaN);
  if (Number.isFinite(time)) controls.seek(time);
  const camera = asked.get("camera");
  if (camera !== null && (CAMERAS as readonly string[]).includes(camera)) scene.camera.take(camera as Preset);
  const tab = asked.get("tab");
  if (tab !== null && isTab(tab)) tabs.show(tab);
  const name = asked.get("select");
  const body = name === null ? -1 : results[0].description.bodies.findIndex((candidate) => candidate.name === name);
  if (body >= 0) state.set({ selected: { result: 0, body } });
  for (const what of (asked.get("show") ?? "").split(","))
    if (["joints", "frames", "forces", "reactions", "grid", "labels"].includes(what)) state.set({ [what]: true });
  if (asked.get("layout") === "side-by-side" && results.length > 1) state.set({ layout: "side by side" });
  if (asked.get("trails") === "all") state.set({ trails: "all" });
  if (asked.has("play")) state.set({ playing: true });
}

async function start(): Promise<void> {
  const text = (id: string): string => byId(id).textContent ?? "";
  if (document.getElementById("holonom-study") !== null) {
    const table = await readStudy(text("holonom-study"));
    bindTheme(() => {});
    showStudy(table);
    return;
  }
  const { page, results } = await readPage(text("holonom-description"), (index) => text(`holonom-data-${index}`));
  let themeChanged = (): void => {};
  bindTheme(() => themeChanged());
  const state = new State({ ...START_VIEW });
  showTitles(results);
  showLedger(results);
  showModel(results);
  showAbout(page.holonom_version);
  const scene = new Scene(byId("view"), results, state);
  scene.quietTrail = liveliestBody(results[0])?.body;
  const plots = new Plots(results, state);
  const controls = new Controls(results, state);
  const values = new Values(results, state);
  let numbersWanted = true;
  const tabs = new Tabs((tab) => {
    numbersWanted = true;
    if (tab === "plots") plots.rebuild();
  });
  bindResults(results, state);
  bindBeams(results, state);
  bindToggles(state, scene);
  bindPointer(results, state, scene);
  bindKeys(state, scene, controls, values);
  themeChanged = (): void => {
    plots.rebuild();
    scene.invalidate();
  };
  showSceneNote(results, scene);
  byId("save-picture").addEventListener("click", () => void scene
    .picture(getComputedStyle(byId("view")).getPropertyValue("--scene-plain").trim() || "#ffffff")
    .then((blob) => saveFile(fileName(results[0].description.model.name, "png"), blob)));
  byId("record").addEventListener("click", () => recordVideo(results, state, scene, controls));
  // a button clicked with the mouse gives the keyboard back: space plays
  document.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest("button");
    if (event.detail > 0 && button !== null) button.blur();
  });
  // escape closes a dialog from any of its fields; a click beside it too
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") dialog.close(); });
    dialog.addEventListener("click", (event) => {
      const { left, right, top, bottom } = dialog.getBoundingClientRect();
      const inside = event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
      if (event.target === dialog && !inside) dialog.close();
    });
  }
  readAddress(results, state, scene, tabs, controls);

  const frameCosts: number[] = [];
  const find = (name: string, result: number): Selection | undefined => {
    const body = results[result].description.bodies.findIndex((candidate) => candidate.name === name);
    return body < 0 ? undefined : { result, body };
  };
  window.holonom = {
    results, state, plots, frameCosts,
    position: (name, result = 0) => {
      const found = find(name, result);
      results[result].evaluate(state.current.time);
      return found && results[result].bodies.position(found.body);
    },
    screenPlace: (name, result = 0) => {
      const found = find(name, result);
      const box = scene.canvas.getBoundingClientRect();
      const place = found && scene.screenPlace(found);
      return place && { x: box.left + place.x, y: box.top + place.y };
    },
  };

  state.on(() => { numbersWanted = true; });
  let last = performance.now(), numbersAt = 0;
  const frame = (now: number): void => {
    const begun = performance.now();
    controls.advance(Math.min(LONGEST_FRAME, (now - last) / 1000));
    last = now;
    const drawn = scene.draw();
    if (drawn && tabs.current === "plots") plots.showTime();
    if (numbersWanted && (now - numbersAt > VALUES_INTERVAL || !state.current.playing)) {
      numbersAt = now;
      numbersWanted = false;
      if (tabs.current === "plots") plots.showValues();
      if (tabs.current === "values") values.update();
    }
    if (drawn) {
      frameCosts.push(performance.now() - begun);
      if (frameCosts.length > COSTS_KEPT) frameCosts.splice(0, COSTS_KEPT / 2);
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  document.documentElement.dataset.ready = "true";
}

start().catch((error: unknown) => {
  const failure = byId("failure");
  failure.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  failure.hidden = false;
  console.error(error);
});
