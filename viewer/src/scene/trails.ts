// SPDX-License-Identifier: MIT
// Paths of centres of mass up to the time shown.
import { BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial, type Color } from "three";
import { indexAt } from "../data/grid";
import type { Result } from "../data/result";

export class Trails {
  readonly group = new Group();
  private readonly lines = new Map<number, Line>();

  constructor(private readonly result: Result, private readonly colourOf: (body: number) => Color) {}

  /// Show the paths of these bodies up to time t.
  update(bodies: Iterable<number>, t: number): void {
    const wanted = new Set(bodies);
    for (const [body, line] of this.lines) line.visible = wanted.has(body);
    if (wanted.size === 0) return;
    const times = this.result.frameTimes;
    const frame = indexAt(times, t);
    const { pose } = this.result.bodies;
    const motion = this.result.table("motion")!;
    for (const body of wanted) {
      const line = this.line(body);
      const place = line.geometry.getAttribute("position") as BufferAttribute;
      // the point after the last frame is where the body is now; the one of the time before goes back to its frame
      const moved = line.userData.moved as number;
      if (moved > 0 && moved < times.length && moved !== frame + 1) {
        const at = 7 * body * motion.columns + moved;
        place.setXYZ(moved, motion.values[at], motion.values[at + motion.columns], motion.values[at + 2 * motion.columns]);
        place.addUpdateRange(3 * moved, 3);
      }
      place.setXYZ(frame + 1, pose[7 * body], pose[7 * body + 1], pose[7 * body + 2]);
      place.addUpdateRange(3 * (frame + 1), 3);
      place.needsUpdate = true;
      line.userData.moved = frame + 1;
      line.geometry.setDrawRange(0, t >= times[0] ? frame + 2 : 0);
    }
  }

  private line(body: number): Line {
    const known = this.lines.get(body);
    if (known) return known;
    const motion = this.result.table("motion")!;
    const frames = motion.columns;
    const places = new Float32Array(3 * (frames + 1));
    for (let k = 0; k < 3; ++k) {
      const row = motion.row(7 * body + k);
      for (let frame = 0; frame < frames; ++frame) places[3 * frame + k] = row[frame];
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(places, 3));
    const line = new Line(geometry, new LineBasicMaterial({ color: this.colourOf(body), linewidth: 2 }));
    line.frustumCulled = false;
    line.userData.moved = 0;
    this.lines.set(body, line);
    this.group.add(line);
    return line;
  }
}
