// SPDX-License-Identifier: MIT
// Pages in Chromium, with an eye on what should not happen.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import { findChromium, FLAGS } from "./chromium.mjs";

export async function launch() {
  return chromium.launch({ executablePath: findChromium(), args: FLAGS, headless: true });
}

/// Software GL talks about itself.
function isDriverNoise(text) {
  return /GL Driver Message|swiftshader|GPU stall due to ReadPixels/i.test(text);
}

/// A tab that remembers messages of errors, and requests beyond the page itself.
export async function openPage(browser, path, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const errors = [];
  const requests = [];
  const address = pathToFileURL(path).href;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isDriverNoise(message.text())) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (url.split("#")[0] !== address && !url.startsWith("data:") && !url.startsWith("blob:")) requests.push(url);
  });
  await page.goto(address + hash);
  await page.waitForFunction(
    () => document.documentElement.dataset.ready === "true" || !document.getElementById("failure").hidden,
    undefined, { timeout: 60000 });
  return { page, context, errors, requests };
}
