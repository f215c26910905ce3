// SPDX-License-Identifier: Apache-2.0
// A browser without a network, and pages of the program in it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { KITH_PROGRAM, KITH_PAGE, PATH } = process.env;
export const folder = mkdtempSync(join(tmpdir(), "kith-page-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const ALONE = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function kith(...words) {
  return execFileSync(KITH_PROGRAM, words.map(String), { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function findBrowser() {
  const places = PATH.split(":").flatMap((path) => ["chromium", "chromium-browser"].map((name) => join(path, name)));
  return places.find((place) => existsSync(place));
}

/** Ends the test as skipped where there is no browser. */
export async function launch() {
  const program = findBrowser();
  if (!program) {
    console.log("skipped: there is no Chromium here; tools/install_dependencies.sh browser installs it");
    process.exit(77);
  }
  if (!existsSync(join(KITH_PAGE, "node_modules"))) {
    console.log("skipped: this build did not bundle the page, so the packages that test it are not here");
    process.exit(77);
  }
  const { chromium } = createRequire(join(KITH_PAGE, "package.json"))("playwright-core");
  return chromium.launch({ executablePath: program, args: ALONE });
}

/** A page that counts every message and every request beyond the file itself. */
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => page.complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => page.complaints.push(String(error.stack)));
  page.on("dialog", (dialog) => {
    page.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) page.complaints.push(`request: ${request.url()}`);
  });
  await context.setOffline(true);
  await page.goto(`file://${file}`);
  await page.waitForSelector("html[data-ready]", { timeout: 30000 });
  return page;
}
