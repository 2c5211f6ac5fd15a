// SPDX-License-Identifier: MIT
// Small figures of a study as SVG: axes, bars, points, cells.
import { tickLabels } from "../numbers";
import { linearTicks } from "../plots/ticks";

const WIDTH = 420, HEIGHT = 260, LEFT = 62, RIGHT = 14, TOP = 12, BOTTOM = 42;

type Attributes = Record<string, string | number>;

export function draw(tag: string, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export interface Axis {
  low: number;
  high: number;
  label: string;
}

/// An axis over numbers, a little wider than they are.
export function axisOver(values: ArrayLike<number>, label: string): Axis {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; ++i) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  if (!(low <= high)) [low, high] = [0, 1];
  const room = low === high ? Math.max(1e-12, Math.abs(low) * 0.05) : 0.04 * (high - low);
  return { low: low - room, high: high + room, label };
}

/// A figure with its axes; `x` and `y` give places.
export class Drawing {
  readonly svg: SVGElement;

  constructor(private readonly across: Axis, private readonly up: Axis, title: string) {
    this.svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "study-figure" }, draw("title", {}, title));
    const xs = linearTicks(across.low, across.high, 5), ys = linearTicks(up.low, up.high, 4);
    tickLabels(xs).forEach((text, i) => this.tick(this.x(xs[i]), HEIGHT - BOTTOM, this.x(xs[i]), TOP, text, "middle", 16));
    tickLabels(ys).forEach((text, i) => this.tick(LEFT, this.y(ys[i]), WIDTH - RIGHT, this.y(ys[i]), text, "end", 4));
    this.svg.append(draw("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle", class: "axis" }, across.label),
      draw("text", { x: 12, y: (TOP + HEIGHT - BOTTOM) / 2, "text-anchor": "middle", class: "axis",
                     transform: `rotate(-90 12 ${(TOP + HEIGHT - BOTTOM) / 2})` }, up.label));
  }

  x(value: number): number {
    return LEFT + ((value - this.across.low) / (this.across.high - this.across.low)) * (WIDTH - LEFT - RIGHT);
  }

  y(value: number): number {
    return HEIGHT - BOTTOM - ((value - this.up.low) / (this.up.high - this.up.low)) * (HEIGHT - TOP - BOTTOM);
  }

  private tick(x1: number, y1: number, x2: number, y2: number, text: string, anchor: string, drop: number): void {
    this.svg.append(draw("line", { x1, y1, x2, y2, class: "rule" }),
      draw("text", { x: anchor === "end" ? x1 - 6 : x1, y: y1 + drop, "text-anchor": anchor, class: "tick" }, text));
  }

  /// A rectangle between two corners in numbers of the axes.
  cell(x0: number, y0: number, x1: number, y1: number, fill: string, title: string): void {
    this.svg.append(draw("rect", { x: this.x(x0), y: this.y(y1), width: Math.max(0.5, this.x(x1) - this.x(x0) - 0.5),
                                   height: Math.max(0, this.y(y0) - this.y(y1)), fill }, draw("title", {}, title)));
  }

  point(x: number, y: number, className: string, title: string): void {
    this.svg.append(draw("circle", { cx: this.x(x), cy: this.y(y), r: 2.6, class: className }, draw("title", {}, title)));
  }
}

/// A colour between blue, white-green and yellow for 0 to 1: light and dark pages show both ends.
export function shade(part: number): string {
  const stops = [[38, 70, 140], [36, 144, 158], [122, 196, 128], [246, 222, 92]];
  const place = Math.min(0.999, Math.max(0, part)) * (stops.length - 1), i = Math.floor(place), t = place - i;
  return `rgb(${stops[i].map((c, k) => Math.round(c + t * (stops[i + 1][k] - c))).join(",")})`;
}
