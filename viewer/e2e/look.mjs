// SPDX-License-Identifier: MIT
// Pictures of a page, for looking at it:  node e2e/look.mjs PAGE OUTPUT.png [HASH] [WIDTHxHEIGHT] [dark]
import { launch, openPage } from "./browser.mjs";

const [path, output, hash = "", size = "1280x800", theme = "light"] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const browser = await launch();
const phone = width < 600 ? { isMobile: true, hasTouch: true, deviceScaleFactor: 1.25 } : {};
const { page, errors, requests } =
  await openPage(browser, path, { hash, viewport: { width, height }, colorScheme: theme, ...phone });
await page.waitForTimeout(500);
await page.screenshot({ path: output });
if (errors.length + requests.length > 0) console.log("errors", errors, "requests", requests);
await browser.close();
