// SPDX-License-Identifier: MIT
// The table of a study as the page holds it.
import { bytesFromBase64, gunzip } from "../data/unpack";

export interface Column {
  name: string;
  unit: string;
  role: "parameter" | "output";
  values: Float64Array;
}

export interface StudyTable {
  name: string;
  version: string;
  /// Members of the study, of the file, and of this page.
  members: { study: number; file: number; page: number };
  numbers: number[];
  columns: Column[];
  failed: boolean[];
  messages: Map<number, string>; // by row
  text: string;
}

interface Written {
  format: string;
  version: number;
  holonom_version: string;
  name: string;
  study_members: number;
  file_members: number;
  members: number[];
  columns: { name: string; unit: string; role: "parameter" | "output"; values: (number | null)[] }[];
  failed: number[];
  messages: [number, string][];
  text: string;
}

export function tableFrom(written: Written): StudyTable {
  if (written.format !== "holonom study" || written.version !== 1)
    throw new Error(`it was written for another viewer (${written.format} ${written.version})`);
  return {
    name: written.name,
    version: written.holonom_version,
    members: { study: written.study_members, file: written.file_members, page: written.members.length },
    numbers: written.members,
    columns: written.columns.map((column) => ({ ...column, values: Float64Array.from(column.values, (x) => x ?? NaN) })),
    failed: written.failed.map((one) => one !== 0),
    messages: new Map(written.messages),
    text: written.text,
  };
}

export async function readStudy(packed: string): Promise<StudyTable> {
  return tableFrom(JSON.parse(new TextDecoder().decode(await gunzip(bytesFromBase64(packed.trim())))) as Written);
}
