// SPDX-License-Identifier: MIT
// The column of plots: presets, choosing series, zoom shared by all, saving.
import type { Result } from "../data/result";
import { byId, fileName, make, saveFile } from "../dom";
import type { State } from "../state";
import { figureCsv, figurePng, figureSvg } from "./figure";
import { Plot, type PlotHost } from "./plot";
import { firstPresets, PRESETS, presetNames, readableName } from "./presets";

const CHOICES_MAX = 200; // entries of the list of series shown at a time

export class Plots implements PlotHost {
  readonly plots: Plot[] = [];
  private readonly list = byId("plot-list");
  private zoom: [number, number] | undefined;

  constructor(readonly results: Result[], private readonly state: State) {
    const choice = byId<HTMLSelectElement>("plot-presets");
    PRESETS.forEach((preset, i) => {
      if (presetNames(preset, results[0]).length > 0) choice.append(new Option(preset.title, String(i)));
    });
    choice.append(new Option("Choose series …", "choose"));
    choice.addEventListener("change", () => {
      const preset = PRESETS[Number(choice.value)];
      const plot = preset === undefined ? this.add("Series", [], false)
        : this.add(preset.title, presetNames(preset, results[0]), preset.log);
      choice.selectedIndex = 0;
      plot.element.scrollIntoView({ block: "nearest" });
      if (preset === undefined) this.chooseSeries(plot);
    });
    for (const title of firstPresets(results[0])) {
      const preset = PRESETS.find((candidate) => candidate.title === title)!;
      const names = presetNames(preset, results[0]);
      if (names.length > 0) this.add(title, names, preset.log);
    }
    state.on((_, changed) => {
      if (changed.has("hidden")) this.rebuild();
    });
    new ResizeObserver(() => this.plots.forEach((plot) => plot.resize())).observe(this.list);
  }

  shown(): Result[] {
    return this.results.filter((result) => !this.state.current.hidden.has(result.index));
  }

  range(): [number, number] {
    if (this.zoom !== undefined) return this.zoom;
    const start = Math.min(...this.results.map((result) => result.start));
    const end = Math.max(...this.results.map((result) => result.end));
    return end > start ? [start, end] : [start, start + 1];
  }

  setRange(range: [number, number] | undefined): void {
    this.zoom = range;
    for (const plot of this.plots) plot.showRange();
  }

  setTime(t: number): void {
    const start = Math.min(...this.results.map((result) => result.start));
    const end = Math.max(...this.results.map((result) => result.end));
    this.state.set({ time: Math.min(end, Math.max(start, t)) });
  }

  time(): number {
    return this.state.current.time;
  }

  showTime(): void {
    for (const plot of this.plots) plot.showTime();
  }

  showValues(): void {
    for (const plot of this.plots) plot.showValues();
  }

  rebuild(): void {
    for (const plot of this.plots) plot.rebuild();
  }

  add(title: string, names: string[], log: boolean): Plot {
    const plot = new Plot(this, title, names, log);
    const logButton = make("button", "toggle", { type: "button", title: "Logarithmic axis" }, "log");
    logButton.setAttribute("aria-pressed", String(log));
    logButton.addEventListener("click", () => {
      plot.setLog(!plot.isLog);
      logButton.setAttribute("aria-pressed", String(plot.isLog));
    });
    const button = (text: string, title_: string, action: () => void): HTMLButtonElement => {
      const element = make("button", "", { type: "button", title: title_ }, text);
      element.addEventListener("click", action);
      return element;
    };
    plot.element.append(
      make("header", "plot-head", {}, make("h3", "", {}, title),
           make("div", "plot-tools", {},
                button("series", "Choose the series of this plot", () => this.chooseSeries(plot)), logButton,
                button("all", "Show the whole time (double click does the same)", () => this.setRange(undefined)),
                button("png", "Save as PNG", () => void this.savePng(plot)),
                button("svg", "Save as SVG", () => this.saveText(plot, "svg", "image/svg+xml", figureSvg(plot.figure()))),
                button("csv", "Save the numbers", () => this.saveText(plot, "csv", "text/csv", figureCsv(plot.figure()))),
                button("×", "Remove this plot", () => this.remove(plot)))),
      plot.body, plot.legendElement);
    this.plots.push(plot);
    this.list.append(plot.element);
    plot.rebuild();
    return plot;
  }

  /// A list of all series to choose from, narrowed by typing.
  chooseSeries(plot: Plot): void {
    const dialog = byId<HTMLDialogElement>("series-dialog");
    const filter = byId<HTMLInputElement>("series-filter");
    const list = byId("series-list");
    const all = [...this.results[0].seriesNames()].filter((name) => this.results[0].series(name) !== undefined || true);
    const fill = (): void => {
      const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      const found = all.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
      const chosen = all.filter((name) => plot.seriesNames.includes(name) && !found.includes(name));
      const rows = [...chosen, ...found].slice(0, CHOICES_MAX).map((name) => {
        const box = make("input", "", { type: "checkbox", checked: plot.seriesNames.includes(name) });
        box.addEventListener("change", () => plot.toggleSeries(name));
        return make("label", "choice", {}, box, make("span", "", {}, name), make("small", "", {}, readableName(name)));
      });
      const left = found.length - CHOICES_MAX;
      list.replaceChildren(...rows, ...(left > 0 ? [make("p", "note", {}, `${left} more: type to narrow the list`)] : []));
    };
    filter.value = "";
    filter.oninput = fill;
    fill();
    dialog.showModal();
    filter.focus();
  }

  private remove(plot: Plot): void {
    this.plots.splice(this.plots.indexOf(plot), 1);
    plot.element.remove();
  }

  private saveText(plot: Plot, ending: string, type: string, text: string): void {
    saveFile(this.nameFor(plot, ending), new Blob([text], { type: `${type};charset=utf-8` }));
  }

  private async savePng(plot: Plot): Promise<void> {
    saveFile(this.nameFor(plot, "png"), await figurePng(figureSvg(plot.figure())));
  }

  private nameFor(plot: Plot, ending: string): string {
    return fileName(`${this.results[0].description.model.name} ${plot.title}`, ending);
  }
}
