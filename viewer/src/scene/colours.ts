// SPDX-License-Identifier: MIT
// Colours of bodies, results and series; told apart also by people who do not see red and green alike.
import { Color } from "three";

/// For results and plotted series, light and dark alike.
export const SERIES_COLOURS = ["#2f6fde", "#e07b00", "#12977a", "#c23b6b", "#7c5cd6", "#8a7a00", "#3aa0c9", "#a0522d"];

const BODY_COLOURS = ["#5b8def", "#f0a04b", "#4db6a0", "#d9739b", "#9a86dd", "#c2b04a", "#62b8dc", "#c98a63"];
const MANY_BODIES = 12; // above, colours run along the model instead of repeating

export const SELECTED_COLOUR = new Color("#ffb000");
export const JOINT_COLOUR = new Color("#4b5563");
export const GROUND_COLOUR = new Color("#8b939e");
export const SPRING_COLOUR = new Color("#8d6e63");
export const FORCE_COLOUR = new Color("#d6336c");
export const TORQUE_COLOUR = new Color("#8f3fd1");
export const REACTION_COLOUR = new Color("#0c8599");
export const REACTION_TORQUE_COLOUR = new Color("#5f3dc4");
export const GRAVITY_COLOUR = new Color("#868e96");

export function seriesColour(index: number): string {
  return SERIES_COLOURS[index % SERIES_COLOURS.length];
}

/// Colour of a body: by its place in the model when one result is shown, by the result when there are several.
export function bodyColour(body: number, bodyCount: number, result: number, resultCount: number): Color {
  if (resultCount > 1) return new Color(seriesColour(result));
  if (bodyCount <= MANY_BODIES) return new Color(BODY_COLOURS[body % BODY_COLOURS.length]);
  const along = body / Math.max(1, bodyCount - 1);
  return new Color().setHSL(0.6 - 0.5 * along, 0.55, 0.6);
}

/// Colour of a number between 0 and 1: dark blue, green, yellow (after viridis, whose lightness grows evenly).
const SCALE = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"]
  .map((text) => new Color(text));

export function scaleColour(u: number, out: Color): Color {
  const place = Math.min(1, Math.max(0, u)) * (SCALE.length - 1);
  const index = Math.min(SCALE.length - 2, Math.floor(place));
  return out.copy(SCALE[index]).lerp(SCALE[index + 1], place - index);
}

export const SCALE_GRADIENT = `linear-gradient(to right, ${SCALE.map((c) => `#${c.getHexString()}`).join(", ")})`;
