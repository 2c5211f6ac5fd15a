// SPDX-License-Identifier: MIT
// Names beside bodies, as text of the page over the picture.
import { Vector3, type PerspectiveCamera } from "three";
import type { Result } from "../data/result";
import { BEAM_NODE } from "./shapes";

const LABELS_MAX = 60;

export class Labels {
  private readonly items: HTMLElement[] = [];
  private readonly nodes: boolean[]; // of beams: too many to name
  private readonly point = new Vector3();

  constructor(private readonly layer: HTMLElement, private readonly result: Result) {
    this.nodes = result.description.bodies.map((body) => body.kind === BEAM_NODE);
    for (const body of result.description.bodies.slice(0, LABELS_MAX)) {
      const item = document.createElement("span");
      item.className = "body-label";
      item.textContent = body.name;
      item.hidden = true;
      this.layer.append(item);
      this.items.push(item);
    }
  }

  update(show: boolean, camera: PerspectiveCamera, width: number, height: number): void {
    const { pose } = this.result.bodies;
    this.items.forEach((item, i) => {
      if (show) this.point.set(pose[7 * i], pose[7 * i + 1], pose[7 * i + 2]).project(camera);
      const visible = show && !this.nodes[i] && this.point.z < 1 && Math.abs(this.point.x) < 1 && Math.abs(this.point.y) < 1;
      if (item.hidden === visible) item.hidden = !visible;
      if (visible)
        item.style.transform = `translate(${(0.5 + 0.5 * this.point.x) * width}px, ${(0.5 - 0.5 * this.point.y) * height}px)`;
    });
  }
}
