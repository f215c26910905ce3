// SPDX-License-Identifier: Apache-2.0
// Fetches the packages of package-lock.json into a folder of the build.
//   node fetch.mjs NPM FOLDER
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const [npm, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const name of ["package.json", "package-lock.json"]) {
  copyFileSync(join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, name), join(folder, name));
}
const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
const patient = ["--fetch-retries=3", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=8000"];
const done = spawnSync(npm, ["ci", ...quiet, ...patient], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
process.exit(done.status === 0 ? 0 : 1);
