// SPDX-License-Identifier: Apache-2.0
// The picture of README.md: the first screen of the demo's page. Run `make demo` before.
//   node tools/make_screenshot.mjs [PAGE [PICTURE]]
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = resolve(process.argv[2] ?? join(root, "build/demo/words.html"));
const picture = resolve(process.argv[3] ?? join(root, "docs/report.png"));
const { chromium } = createRequire(join(root, "build/release/report/package.json"))("playwright-core");

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const tab = await browser.newPage({ viewport: { width: 1280, height: 1180 }, colorScheme: "light" });
await tab.goto(`file://${page}`);
await tab.waitForSelector("html[data-ready]");
await tab.screenshot({ path: picture });
await browser.close();
console.log(picture);
