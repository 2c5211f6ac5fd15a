// SPDX-License-Identifier: MIT
// Who made the page, and the licences of what is in it.
import { byId, make } from "../dom";

/// Filled in by build.mjs from the packages' own files.
declare const LICENCES: { name: string; version: string; text: string }[];

export function showAbout(version: string): void {
  const body = byId("about-body");
  body.append(make("p", "", {}, `Written by holonom ${version}. The page is complete: it needs no network and no server, and loads nothing.`));
  for (const { name, version: of, text } of LICENCES)
    body.append(make("h3", "", {}, `${name} ${of}`), make("pre", "licence", {}, text));
  byId("about-button").addEventListener("click", () => byId<HTMLDialogElement>("about-dialog").showModal());
}
