// SPDX-License-Identifier: MIT
// Numbers as text: a fixed number of digits, true minus signs, units a person reads.

/// Six significant digits (or as many as asked for); exponents for very small and very large numbers.
export function formatNumber(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(Math.min(digits - 1, 3)) : value.toPrecision(digits);
  return text.replace("e+", "e").replaceAll("-", "−");
}

/// Two digits of an error: 1.3e−13.
export function errorText(value: number, digits = 1): string {
  return value === 0 ? "0" : value.toExponential(digits).replace("e+", "e").replaceAll("-", "−");
}

/// A short form for labels: no zeros at the end.
export function shortNumber(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "–";
  const number = Number(value.toPrecision(digits));
  const size = Math.abs(number);
  const text = number !== 0 && (size >= 1e6 || size < 1e-4) ? number.toExponential() : String(number);
  return text.replace("e+", "e").replaceAll("-", "−");
}

/// The least number of decimals that shows all numbers, up to twelve.
function decimalsFor(numbers: readonly number[], tolerance: number): number {
  for (let decimals = 0; decimals < 12; ++decimals)
    if (numbers.every((x) => Math.abs(Number(x.toFixed(decimals)) - x) < tolerance)) return decimals;
  return 12;
}

/// Tick labels of one axis, all with as many decimals as they need together.
export function tickLabels(ticks: readonly number[]): string[] {
  if (ticks.length === 0) return [];
  const largest = Math.max(...ticks.map(Math.abs));
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : largest || 1;
  if (largest > 0 && (largest >= 1e5 || largest < 1e-3)) {
    const power = 10 ** Math.floor(Math.log10(largest));
    const decimals = decimalsFor(ticks.map((tick) => tick / power), (1e-3 * step) / power);
    return ticks.map((tick) => (tick === 0 ? "0" : scientific(tick, power, decimals)));
  }
  const decimals = decimalsFor(ticks, 1e-3 * step);
  return ticks.map((tick) => (tick === 0 ? 0 : tick).toFixed(decimals).replaceAll("-", "−"));
}

/// With the power of ten that all ticks share.
function scientific(tick: number, power: number, decimals: number): string {
  return `${(tick / power).toFixed(decimals)}e${Math.round(Math.log10(power))}`.replaceAll("-", "−");
}

/// kg m^2/s is written kg m²/s, 1 is no unit at all.
export function unitText(unit: string): string {
  return unit === "1" ? "" : unit.replaceAll("^2", "²").replaceAll("^3", "³").replaceAll("^-1", "⁻¹");
}

export function withUnit(value: string, unit: string): string {
  const text = unitText(unit);
  return text === "" ? value : `${value} ${text}`;
}
