// SPDX-License-Identifier: MIT
// Keys: everything the page can do works without a mouse.
import { byId, make } from "../dom";
import type { Scene } from "../scene/scene";
import type { State, View } from "../state";
import type { Controls } from "./controls";
import type { Values } from "./values";

interface Key {
  keys: string[]; // as KeyboardEvent.key; "Shift+" before it where the key needs it
  shown: string;
  does: string;
  action: () => void;
}

export type Toggle = "joints" | "frames" | "forces" | "reactions" | "grid" | "labels";

export const TRAIL_ORDER: View["trails"][] = ["selected", "all", "none"];

export function nextTrails(trails: View["trails"]): View["trails"] {
  return TRAIL_ORDER[(TRAIL_ORDER.indexOf(trails) + 1) % TRAIL_ORDER.length];
}

export function bindKeys(state: State, scene: Scene, controls: Controls, values: Values): void {
  const toggle = (what: Toggle): void => state.set({ [what]: !state.current[what] });
  const help = byId<HTMLDialogElement>("help-dialog");
  const keys: Key[] = [
    { keys: [" "], shown: "space", does: "play or pause", action: () => controls.toggle() },
    { keys: ["ArrowLeft"], shown: "←", does: "one frame back", action: () => controls.step(-1) },
    { keys: ["ArrowRight"], shown: "→", does: "one frame on", action: () => controls.step(1) },
    { keys: ["PageUp"], shown: "page up", does: "ten frames back", action: () => controls.step(-10) },
    { keys: ["PageDown"], shown: "page down", does: "ten frames on", action: () => controls.step(10) },
    { keys: ["Home"], shown: "home", does: "to the start", action: () => controls.seek(controls.start) },
    { keys: ["End"], shown: "end", does: "to the end", action: () => controls.seek(controls.end) },
    { keys: ["ArrowUp", ">"], shown: "↑", does: "faster", action: () => controls.changeSpeed(1) },
    { keys: ["ArrowDown", "<"], shown: "↓", does: "slower", action: () => controls.changeSpeed(-1) },
    { keys: ["Shift+ArrowLeft"], shown: "shift ←", does: "turn left", action: () => scene.camera.turn(-1, 0) },
    { keys: ["Shift+ArrowRight"], shown: "shift →", does: "turn right", action: () => scene.camera.turn(1, 0) },
    { keys: ["Shift+ArrowUp"], shown: "shift ↑", does: "turn up", action: () => scene.camera.turn(0, 1) },
    { keys: ["Shift+ArrowDown"], shown: "shift ↓", does: "turn down", action: () => scene.camera.turn(0, -1) },
    { keys: ["+", "="], shown: "+", does: "nearer", action: () => scene.camera.zoom(0.87) },
    { keys: ["-"], shown: "−", does: "farther", action: () => scene.camera.zoom(1.15) },
    { keys: ["1"], shown: "1", does: "fit the motion", action: () => preset(state, scene, "fit") },
    { keys: ["2"], shown: "2", does: "front", action: () => preset(state, scene, "front") },
    { keys: ["3"], shown: "3", does: "side", action: () => preset(state, scene, "side") },
    { keys: ["4"], shown: "4", does: "top", action: () => preset(state, scene, "top") },
    { keys: ["]"], shown: "]", does: "select the next body", action: () => values.selectNeighbour(1) },
    { keys: ["["], shown: "[", does: "select the previous body", action: () => values.selectNeighbour(-1) },
    { keys: ["f"], shown: "f", does: "follow the selected body, or let go", action: () =>
      state.set({ follow: state.current.follow === undefined ? state.current.selected : undefined }) },
    { keys: ["j"], shown: "j", does: "joints", action: () => toggle("joints") },
    { keys: ["x"], shown: "x", does: "body frames", action: () => toggle("frames") },
    { keys: ["l"], shown: "l", does: "forces and torques of loads", action: () => toggle("forces") },
    { keys: ["r"], shown: "r", does: "reactions", action: () => toggle("reactions") },
    { keys: ["t"], shown: "t", does: "trails: one, all, none", action: () => state.set({ trails: nextTrails(state.current.trails) }) },
    { keys: ["n"], shown: "n", does: "names", action: () => toggle("labels") },
    { keys: ["g"], shown: "g", does: "grid", action: () => toggle("grid") },
    { keys: ["s"], shown: "s", does: "overlaid or side by side", action: () =>
      state.set({ layout: state.current.layout === "overlaid" ? "side by side" : "overlaid" }) },
    { keys: ["Escape"], shown: "esc", does: "select nothing", action: () => state.set({ selected: undefined, follow: undefined }) },
    { keys: ["?"], shown: "?", does: "this list", action: () => help.showModal() },
  ];
  byId("help-keys").append(...keys.flatMap(({ shown, does }) => [make("dt", "", {}, make("kbd", "", {}, shown)), make("dd", "", {}, does)]));
  byId("help-button").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.closest("dialog[open]") !== null) return;
    if (takesKey(target, event.key)) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const found = keys.find((key) => key.keys.includes(name) || key.keys.includes(name.toLowerCase()));
    if (found === undefined) return;
    event.preventDefault();
    found.action();
  });
}

function preset(state: State, scene: Scene, name: "fit" | "front" | "side" | "top"): void {
  state.set({ follow: undefined });
  scene.camera.take(name);
}

/// Does the element that has the focus need the key itself?
function takesKey(target: HTMLElement, key: string): boolean {
  if (target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox") return true;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return key !== "?";
  if (target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement || target.tagName === "SUMMARY")
    return key === " " || key === "Enter" || (target.getAttribute("role") === "tab" && key.startsWith("Arrow"));
  if (target.tagName === "PRE") return key.startsWith("Arrow") || key.startsWith("Page") || key === "Home" || key === "End";
  return false;
}
