// SPDX-License-Identifier: MIT
// The text of the model file, to read, copy and save.
import type { Result } from "../data/result";
import { byId, fileName, make, saveFile } from "../dom";

export function showModel(results: Result[]): void {
  const panel = byId("model-body");
  const seen = new Set<string>();
  for (const { description } of results) {
    const { text, name } = description.model;
    if (seen.has(text)) continue;
    seen.add(text);
    if (text === "") {
      panel.append(make("p", "note", {}, "The model was built by a program: the result file has no text of it."));
      continue;
    }
    const save = make("button", "", { type: "button" }, "save");
    save.addEventListener("click", () => saveFile(fileName(name, "yaml"), new Blob([text], { type: "text/plain;charset=utf-8" })));
    panel.append(make("header", "plot-head", {}, make("h3", "", {}, name), make("div", "plot-tools", {}, save)),
                 make("pre", "model-text", { tabIndex: 0 }, text));
  }
}
