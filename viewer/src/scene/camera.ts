// SPDX-License-Identifier: MIT
// Camera: fitted to the model and its motion, presets, following a body.
import { PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Extent } from "./extent";

export const PRESETS = ["fit", "front", "side", "top"] as const;
export type Preset = (typeof PRESETS)[number];

const FIELD_OF_VIEW = 35; // degrees
const FLAT_SHARE = 0.12; // of the largest extent; a motion thinner than that is looked at from the front
const FIT_MARGIN = 1.12;
const TURN_STEP = Math.PI / 24;

/// Axes to the right and away from the viewer in a front view.
function frontAxes(up: Vector3): { right: Vector3; back: Vector3 } {
  const right = Math.abs(up.x) > 0.5 ? new Vector3(0, 1, 0) : new Vector3(1, 0, 0);
  return { right, back: up.clone().cross(right) };
}

/// Direction from the model to the camera.
export function viewDirection(preset: Preset, extent: Extent): Vector3 {
  const { up, box } = extent;
  const { right, back } = frontAxes(up);
  switch (preset) {
    case "front": return back.clone().negate();
    case "side": return right.clone();
    case "top": return up.clone().addScaledVector(back, -0.001); // never quite along the axis that is up
    case "fit": break;
  }
  const size = box.getSize(new Vector3());
  const extents = { right: Math.abs(size.dot(right)), back: Math.abs(size.dot(back)), up: Math.abs(size.dot(up)) };
  const flat = FLAT_SHARE * Math.max(extents.right, extents.back, extents.up);
  if (extents.back < flat) return back.clone().negate().addScaledVector(right, 0.25).addScaledVector(up, 0.22).normalize();
  if (extents.right < flat) return right.clone().addScaledVector(back, -0.25).addScaledVector(up, 0.22).normalize();
  if (extents.up < flat) return up.clone().addScaledVector(back, -0.45).addScaledVector(right, 0.2).normalize();
  return right.clone().multiplyScalar(0.62).addScaledVector(back, -1).addScaledVector(up, 0.52).normalize();
}

export class Camera {
  readonly camera: PerspectiveCamera;
  readonly controls: OrbitControls;
  private readonly followed = new Vector3();
  private following = false;

  constructor(element: HTMLElement, private readonly extent: Extent, changed: () => void) {
    const { size, up } = extent;
    this.camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, size / 500, size * 50);
    this.camera.up.copy(up);
    this.controls = new OrbitControls(this.camera, element);
    this.controls.enableDamping = false;
    this.controls.zoomSpeed = 1.2;
    this.controls.minDistance = size / 200;
    this.controls.maxDistance = size * 12;
    this.controls.addEventListener("change", changed);
    this.take("fit");
  }

  /// Look from a preset's direction so that the whole motion is in the picture.
  take(preset: Preset): void {
    const direction = viewDirection(preset, this.extent);
    const target = this.extent.box.getCenter(new Vector3());
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, this.distanceFor(direction));
    this.controls.update();
  }

  setAspect(aspect: number): void {
    this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  turn(horizontal: number, vertical: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.applyAxisAngle(this.camera.up, -horizontal * TURN_STEP);
    const sideways = offset.clone().cross(this.camera.up).normalize();
    const turned = offset.clone().applyAxisAngle(sideways, vertical * TURN_STEP);
    if (Math.abs(turned.clone().normalize().dot(this.camera.up)) < 0.995) offset.copy(turned);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
  }

  zoom(factor: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    const length = Math.min(this.controls.maxDistance, Math.max(this.controls.minDistance, offset.length()));
    this.camera.position.copy(this.controls.target).add(offset.setLength(length));
    this.controls.update();
  }

  /// Keep a moving point where it is in the picture; undefined: let go.
  follow(point: Vector3 | undefined): void {
    if (point !== undefined && this.following) {
      const moved = point.clone().sub(this.followed);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.camera.lookAt(this.controls.target);
    } else if (point !== undefined) {
      const offset = this.camera.position.clone().sub(this.controls.target);
      this.controls.target.copy(point);
      this.camera.position.copy(point).add(offset);
      this.camera.lookAt(point);
    }
    this.following = point !== undefined;
    if (point !== undefined) this.followed.copy(point);
  }

  /// Distance at which the whole motion is inside the picture, with a margin.
  private distanceFor(direction: Vector3): number {
    const center = this.extent.box.getCenter(new Vector3());
    const right = this.camera.up.clone().cross(direction);
    if (right.length() < 1e-3) right.copy(frontAxes(this.camera.up).right);
    right.normalize();
    const upright = direction.clone().cross(right).normalize();
    const vertical = Math.tan((0.5 * FIELD_OF_VIEW * Math.PI) / 180);
    const horizontal = vertical * this.camera.aspect;
    const point = new Vector3();
    let distance = 0.1 * this.extent.size;
    for (const each of this.extent.points) {
      point.copy(each).sub(center);
      const ahead = point.dot(direction);
      distance = Math.max(distance, ahead + Math.abs(point.dot(right)) / horizontal,
                          ahead + Math.abs(point.dot(upright)) / vertical);
    }
    return FIT_MARGIN * distance;
  }
}
