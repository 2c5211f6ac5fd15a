// SPDX-License-Identifier: MIT
// The page of a study: summary, histogram, output over parameters, response surface, shares of variance, table.
import { byId, fileName, make, saveFile } from "../dom";
import { formatNumber, shortNumber, unitText } from "../numbers";
import { showAbout } from "../panels/about";
import { axisOver, Drawing, draw, shade } from "./drawing";
import { histogram, mean, surface, variance, varianceShare } from "./statistics";
import type { Column, StudyTable } from "./table";

const ROWS_SHOWN = 200, POINTS_DRAWN = 3000;

/// What scripts and tests may use, as `window.holonomStudy`.
export interface StudyInterface {
  table: StudyTable;
  shares: () => Map<string, number>;
}
declare global {
  interface Window { holonomStudy?: StudyInterface }
}

function label(column: Column): string {
  const unit = unitText(column.unit);
  return unit === "" ? column.name : `${column.name}, ${unit}`;
}

function section(title: string, note: string, ...content: Node[]): HTMLElement {
  return make("section", "study-part", {}, make("h2", "", {}, title), make("p", "note", {}, note), ...content);
}

function drawHistogram(output: Column): Node {
  const found = histogram(output.values);
  if (found === undefined) return make("p", "", {}, "No member has it.");
  const high = found.low + found.width * found.counts.length;
  const drawing = new Drawing(axisOver([found.low, high], label(output)), { low: 0, high: Math.max(...found.counts) * 1.05, label: "members" },
    `Histogram of ${output.name}`);
  found.counts.forEach((count, i) => drawing.cell(found.low + i * found.width, 0, found.low + (i + 1) * found.width, count,
    "var(--accent)", `${count} members`));
  return drawing.svg;
}

function drawOver(table: StudyTable, parameter: Column, output: Column): Node {
  const drawing = new Drawing(axisOver(parameter.values, label(parameter)), axisOver(output.values, label(output)),
    `${output.name} over ${parameter.name}`);
  const stride = Math.ceil(parameter.values.length / POINTS_DRAWN);
  for (let i = 0; i < parameter.values.length; i += stride)
    if (Number.isFinite(output.values[i]))
      drawing.point(parameter.values[i], output.values[i], table.failed[i] ? "failed-point" : "sound-point",
        `member ${table.numbers[i]}: ${shortNumber(output.values[i])}`);
  return drawing.svg;
}

function drawSurface(first: Column, second: Column, output: Column): Node {
  const found = surface(first.values, second.values, output.values);
  if (found === undefined) return make("p", "", {}, "No member has it.");
  const means = found.means.flat().filter((x): x is number => x !== undefined);
  const low = Math.min(...means), high = Math.max(...means);
  const drawing = new Drawing({ low: found.columns[0], high: found.columns[found.columns.length - 1], label: label(first) },
    { low: found.rows[0], high: found.rows[found.rows.length - 1], label: label(second) }, `${output.name} over two parameters`);
  found.means.forEach((row, r) => row.forEach((value, c) => {
    if (value === undefined) return;
    drawing.cell(found.columns[c], found.rows[r], found.columns[c + 1], found.rows[r + 1],
      shade(high > low ? (value - low) / (high - low) : 0.5), `${output.name} ${shortNumber(value)}`);
  }));
  const key = make("p", "study-key", {}, `${shortNumber(low)} `, make("span", "study-scale"), ` ${shortNumber(high)} ${unitText(output.unit)}`);
  return make("div", "", {}, drawing.svg as unknown as Node, key);
}

function showShares(parameters: Column[], output: Column): Node {
  const list = make("div", "study-shares");
  for (const parameter of parameters) {
    const share = varianceShare(parameter.values, output.values);
    const bar = draw("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "study-bar" },
      draw("rect", { x: 0, y: 0, width: Number.isFinite(share) ? 100 * share : 0, height: 8, fill: "var(--accent)" }));
    list.append(make("span", "", {}, parameter.name), bar as unknown as Node,
      make("b", "", {}, Number.isFinite(share) ? `${(100 * share).toFixed(0)} %` : "–"));
  }
  return list;
}

function tableCsv(table: StudyTable): string {
  const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const head = ["member", ...table.columns.map((column) => column.name), "failed", "message"].map(quote).join(",");
  const rows = table.numbers.map((member, i) => [member, ...table.columns.map((column) => column.values[i]),
    table.failed[i] ? 1 : 0, quote(table.messages.get(i) ?? "")].join(","));
  return [head, ...rows].join("\n") + "\n";
}

/// The table, sorted by a column: -1 is the number of the member, -2 failed ones first.
function showRows(table: StudyTable, body: HTMLElement, by: number, down: boolean): void {
  const key = (i: number): number => (by === -2 ? Number(table.failed[i]) : by < 0 ? table.numbers[i] : table.columns[by].values[i]);
  const order = table.numbers.map((_, i) => i).sort((a, b) => (down ? key(b) - key(a) : key(a) - key(b)) || a - b).slice(0, ROWS_SHOWN);
  body.replaceChildren(...order.map((i) => make("tr", table.failed[i] ? "failed-row" : "", {},
    make("td", "", {}, String(table.numbers[i])), ...table.columns.map((column) => make("td", "", {}, formatNumber(column.values[i]))),
    make("td", "study-message", {}, table.messages.get(i) ?? (table.failed[i] ? "failed" : "")))));
}

function showTable(table: StudyTable): Node {
  const body = make("tbody");
  let by = -2, down = true;
  const heads = [["member", -1], ...table.columns.map((column, i) => [label(column), i]), ["message", -2]] as [string, number][];
  const row = make("tr", "", {}, ...heads.map(([text, index]) => {
    const button = make("button", "", { type: "button", title: "Sort" }, text);
    button.addEventListener("click", () => {
      down = by === index ? !down : false;
      by = index;
      showRows(table, body, by, down);
    });
    return make("th", "", {}, button);
  }));
  showRows(table, body, by, down);
  return make("div", "study-table", {}, make("table", "", {}, make("thead", "", {}, row), body));
}

function choice(columns: Column[], chosen: number, name: string, change: (index: number) => void): HTMLSelectElement {
  const select = make("select", "", { ariaLabel: name }, ...columns.map((column, i) =>
    make("option", "", { value: String(i), selected: i === chosen }, label(column))));
  select.addEventListener("change", () => change(Number(select.value)));
  return select;
}

function summary(output: Column): string {
  const values = Array.from(output.values).filter(Number.isFinite);
  if (values.length === 0) return "no member has it";
  return `mean ${shortNumber(mean(values))}, deviation ${shortNumber(Math.sqrt(variance(values)))}, ${values.length} members`;
}

export function showStudy(table: StudyTable): void {
  const parameters = table.columns.filter((column) => column.role === "parameter");
  const outputs = table.columns.filter((column) => column.role === "output");
  const failed = table.failed.filter((one) => one).length, { members } = table;
  document.title = `${table.name} · Holonom`;
  byId("model-name").textContent = table.name;
  byId("model-line").textContent = `${members.file} of ${members.study} members · ${parameters.map((one) => one.name).join(", ")}`;
  byId("badges").append(make("span", `badge ${failed === 0 ? "kept" : "broken"}`, {}, `${failed} failed`));
  byId("help-button").hidden = true;
  showAbout(table.version);
  let output = 0, first = 0, second = Math.min(1, parameters.length - 1);
  const page = make("div", "study");
  byId("top").after(page);
  document.querySelector("main")!.hidden = true;
  const render = (): void => {
    const y = outputs[output];
    const parts: Node[] = [section("Histogram", summary(y), drawHistogram(y)),
      section("Shares of variance", "what each parameter explains by itself (first-order index, estimated from these members)",
        showShares(parameters, y)),
      ...parameters.map((parameter) => section(`Over ${parameter.name}`, failed > 0 ? "failed members are marked" : "", drawOver(table, parameter, y)))];
    if (parameters.length > 1) parts.push(section("Response surface", "mean of the members in each cell",
      make("p", "", {}, choice(parameters, first, "Across", (i) => { first = i; render(); }), " and ",
        choice(parameters, second, "Up", (i) => { second = i; render(); })),
      drawSurface(parameters[first], parameters[second], y)));
    figures.replaceChildren(...parts);
  };
  const figures = make("div", "study-figures");
  const save = make("button", "", { type: "button" }, "save as CSV");
  save.addEventListener("click", () => saveFile(fileName(table.name, "csv"), new Blob([tableCsv(table)], { type: "text/csv" })));
  const thinned = members.page < members.file ? ` This page has every ${Math.ceil(members.file / members.page)}th of ${members.file} members.` : "";
  const shown = table.numbers.length > ROWS_SHOWN ? `The first ${ROWS_SHOWN} rows; a click on a head sorts.` : "A click on a head sorts.";
  page.append(make("p", "study-tools", {}, "Output ", choice(outputs, output, "Output", (i) => { output = i; render(); })), figures,
    section("Members", shown + thinned, save, showTable(table)),
    section("Study", "", make("pre", "", {}, table.text)));
  render();
  window.holonomStudy = { table, shares: () => new Map(parameters.map((one) => [one.name, varianceShare(one.values, outputs[output].values)])) };
  document.documentElement.dataset.ready = "true";
}
