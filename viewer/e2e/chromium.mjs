// SPDX-License-Identifier: MIT
// Debian's Chromium: where it is, and how it runs without a screen: software GL, nothing of its own on the network.
import { existsSync } from "node:fs";

export const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
  "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/// Path of Chromium, or undefined.
export function findChromium() {
  return [process.env.HOLONOM_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .find((path) => path !== undefined && existsSync(path));
}
