// SPDX-License-Identifier: MIT
// Playing and scrubbing: buttons, slider, speed.
import { indexAt, nearestIndex } from "../data/grid";
import type { Result } from "../data/result";
import { byId } from "../dom";
import { shortNumber } from "../numbers";
import type { State, View } from "../state";

const SLIDER_STEPS = 100000;
const PLAY_SECONDS = 8; // how long a run takes to play when its own time is much shorter or longer
const REAL_TIME = [2, 30]; // s, runs of such a length play at their own pace
const SPEEDS = [1, 2, 5];

/// Seconds of the model per second of the clock for a run of some length.
export function defaultSpeed(duration: number): number {
  if (duration >= REAL_TIME[0] && duration <= REAL_TIME[1]) return 1;
  if (!(duration > 0)) return 1;
  const raw = duration / PLAY_SECONDS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const share = raw / power;
  return Number((power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10)).toPrecision(1));
}

/// Speeds to choose from: 1, 2, 5 times powers of ten, a thousandth to a thousand times the default.
export function speedChoices(middle: number): number[] {
  const choices: number[] = [];
  const power = Math.floor(Math.log10(middle));
  for (let p = power - 2; p <= power + 2; ++p) for (const s of SPEEDS) choices.push(Number((s * 10 ** p).toPrecision(1)));
  return choices;
}

export class Controls {
  readonly start: number;
  readonly end: number;
  private readonly times: ArrayLike<number>; // frames one steps through
  private readonly slider = byId<HTMLInputElement>("time-slider");
  private readonly play = byId<HTMLButtonElement>("play");
  private readonly now = byId("time-now");
  private readonly decimals: number;

  constructor(results: Result[], private readonly state: State) {
    this.start = Math.min(...results.map((result) => result.start));
    this.end = Math.max(...results.map((result) => result.end));
    this.times = results.reduce((a, b) => (b.frameTimes.length > a.frameTimes.length ? b : a)).frameTimes;
    const frame = (this.end - this.start) / Math.max(1, this.times.length - 1);
    this.decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(frame || 1)) + 1));
    byId("time-end").textContent = `${this.end.toFixed(Math.min(3, this.decimals))} s`;
    this.slider.max = String(SLIDER_STEPS);
    this.slider.addEventListener("input", () => this.seek(this.start + (Number(this.slider.value) / SLIDER_STEPS) * (this.end - this.start)));
    this.play.addEventListener("click", () => this.toggle());
    byId("step-back").addEventListener("click", () => this.step(-1));
    byId("step-forward").addEventListener("click", () => this.step(1));
    byId("to-start").addEventListener("click", () => this.seek(this.start));
    byId("to-end").addEventListener("click", () => this.seek(this.end));
    this.fillSpeeds();
    const loop = byId<HTMLButtonElement>("loop");
    loop.addEventListener("click", () => this.state.set({ loop: !this.state.current.loop }));
    state.on((view, changed) => this.show(view, changed));
    this.state.set({ time: this.start });
    this.show(state.current, new Set(["time", "playing", "loop"]));
  }

  toggle(): void {
    const { playing, time, loop } = this.state.current;
    if (!playing && time >= this.end && !loop) this.state.set({ time: this.start });
    this.state.set({ playing: !playing });
  }

  seek(t: number): void {
    this.state.set({ time: Math.min(this.end, Math.max(this.start, t)) });
  }

  /// To the next or previous frame; stops playing.
  step(count: number): void {
    const { time } = this.state.current;
    const near = nearestIndex(this.times, time);
    // between two frames the first step goes to the neighbour
    const on = Math.abs(this.times[near] - time) < 1e-9 * Math.max(1, Math.abs(this.end - this.start));
    const from = on ? near : indexAt(this.times, time) + (count < 0 ? 1 : 0);
    const to = Math.min(this.times.length - 1, Math.max(0, from + count));
    this.state.set({ playing: false, time: this.times[to] });
  }

  /// Advance by a span of the clock.
  advance(seconds: number): void {
    const { playing, time, speed, loop } = this.state.current;
    if (!playing) return;
    const next = time + seconds * speed;
    if (next < this.end) this.state.set({ time: next });
    else if (loop) this.state.set({ time: this.end > this.start ? this.start : this.end });
    else this.state.set({ time: this.end, playing: false });
  }

  private show(view: Readonly<View>, changed: ReadonlySet<keyof View>): void {
    if (changed.has("time")) {
      const share = this.end > this.start ? (view.time - this.start) / (this.end - this.start) : 0;
      const place = String(Math.round(share * SLIDER_STEPS));
      if (this.slider.value !== place) this.slider.value = place;
      this.slider.style.setProperty("--share", `${(100 * share).toFixed(2)}%`);
      const text = view.time.toFixed(this.decimals);
      this.now.textContent = text;
      this.slider.setAttribute("aria-valuetext", `${text} seconds`);
    }
    if (changed.has("playing")) {
      this.play.dataset.playing = String(view.playing);
      this.play.setAttribute("aria-label", view.playing ? "Pause" : "Play");
      this.play.title = view.playing ? "Pause (space)" : "Play (space)";
    }
    if (changed.has("loop")) byId("loop").setAttribute("aria-pressed", String(view.loop));
    if (changed.has("speed")) byId<HTMLSelectElement>("speed").value = String(view.speed);
  }

  private fillSpeeds(): void {
    const speed = defaultSpeed(this.end - this.start);
    const select = byId<HTMLSelectElement>("speed");
    for (const choice of speedChoices(speed)) select.append(new Option(`${shortNumber(choice)}×`, String(choice)));
    select.addEventListener("change", () => this.state.set({ speed: Number(select.value) }));
    this.state.set({ speed });
    select.value = String(speed);
  }

  /// Faster or slower by one place of the list.
  changeSpeed(by: number): void {
    const select = byId<HTMLSelectElement>("speed");
    const index = Math.min(select.options.length - 1, Math.max(0, select.selectedIndex + by));
    this.state.set({ speed: Number(select.options[index].value) });
  }
}
