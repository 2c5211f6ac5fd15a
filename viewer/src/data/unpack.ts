// SPDX-License-Identifier: MIT
// From the text in the page to numbers: base64, gzip, byte planes, differences.
import type { BlockDescription, Encoding } from "./format";

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes of a base64 text. Written out, as browsers before 2025 have no quick way of their own.
export function bytesFromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const value = new Uint8Array(128);
  for (let i = 0; i < BASE64.length; ++i) value[BASE64.charCodeAt(i)] = i;
  let length = text.length;
  while (length > 0 && text[length - 1] === "=") --length;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let out = 0;
  for (let i = 0; i < length; i += 4) {
    const word =
      (value[text.charCodeAt(i)] << 18) |
      (value[text.charCodeAt(i + 1)] << 12) |
      ((i + 2 < length ? value[text.charCodeAt(i + 2)] : 0) << 6) |
      (i + 3 < length ? value[text.charCodeAt(i + 3)] : 0);
    bytes[out++] = word >> 16;
    if (out < bytes.length) bytes[out++] = word >> 8;
    if (out < bytes.length) bytes[out++] = word;
  }
  return bytes;
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const WIDTH: Record<Encoding, number> = { q16: 2, q32: 4, f32: 4, f64: 8 };

/// Length of a block in bytes, without the padding behind it.
export function blockLength(block: BlockDescription): number {
  return 16 * block.rows + WIDTH[block.encoding] * block.rows * block.columns;
}

/// Put byte planes back together: all lowest bytes come first in the block.
function joinPlanes(bytes: Uint8Array, count: number, width: number): ArrayBuffer {
  const joined = new Uint8Array(count * width);
  for (let plane = 0; plane < width; ++plane) {
    const from = plane * count;
    for (let i = 0, to = plane; i < count; ++i, to += width) joined[to] = bytes[from + i];
  }
  return joined.buffer;
}

/// A table of series: `rows` series of `columns` numbers.
export class Table {
  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly values: Float64Array | Float32Array,
  ) {}

  row(index: number): Float64Array | Float32Array {
    return this.values.subarray(index * this.columns, (index + 1) * this.columns);
  }
}

/// Numbers of a block as doubles, row by row.
export function unpackBlock(buffer: ArrayBuffer, block: BlockDescription): Table {
  const { rows, columns, at } = block;
  const count = rows * columns;
  const offsets = new Float64Array(buffer, at, rows);
  const scales = new Float64Array(buffer, at + 8 * rows, rows);
  const planes = new Uint8Array(buffer, at + 16 * rows, WIDTH[block.encoding] * count);
  const joined = joinPlanes(planes, count, WIDTH[block.encoding]);
  const values = new Float64Array(count);
  switch (block.encoding) {
    case "q16":
    case "q32": {
      const differences = block.encoding === "q16" ? new Int16Array(joined) : new Int32Array(joined);
      const sum = block.encoding === "q16" ? new Int16Array(1) : new Int32Array(1); // wraps as the writer's did
      for (let row = 0, i = 0; row < rows; ++row) {
        sum[0] = 0;
        for (let column = 0; column < columns; ++column, ++i) {
          sum[0] += differences[i];
          values[i] = offsets[row] + scales[row] * sum[0];
        }
      }
      break;
    }
    case "f32":
    case "f64": {
      const numbers = block.encoding === "f32" ? new Float32Array(joined) : new Float64Array(joined);
      for (let row = 0, i = 0; row < rows; ++row)
        for (let column = 0; column < columns; ++column, ++i) values[i] = offsets[row] + numbers[i];
      break;
    }
  }
  return new Table(rows, columns, values);
}
