// SPDX-License-Identifier: MIT
// Exit code 0 when there is a Chromium to test in.
import { findChromium } from "./chromium.mjs";

process.exit(findChromium() === undefined ? 1 : 0);
