// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into one page without its document.
//   node bundle.mjs FOLDER      FOLDER has node_modules; page.html goes there
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.argv[2];
const sources = join(dirname(fileURLToPath(import.meta.url)), "src");
const esbuild = createRequire(join(folder, "package.json"))("esbuild");

async function bundled(entry) {
  const result = await esbuild.build({
    entryPoints: [join(sources, entry)],
    nodePaths: [join(folder, "node_modules")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2020"],
    charset: "ascii",
    legalComments: "none",
    logLevel: "warning",
  });
  // Nothing inside may end the element it stands in.
  return result.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

const script = await bundled("main.js");
const style = await bundled("style.css");
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const page = readFileSync(join(sources, "page.html"), "utf8")
  .replace("@POLICY@", () => policy)
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);
writeFileSync(join(folder, "page.html"), page);
