// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into one page without its document, and the page into a C++ source.
//   node bundle.mjs FOLDER      FOLDER has node_modules; page.html and page_source.cpp go there
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

// A literal has at most 64 kB for every compiler to take it; adjacent ones are one.
const pieces = [];
for (let at = 0; at < page.length; at += 8000) pieces.push(`R"kith(${page.slice(at, at + 8000)})kith"`);
writeFileSync(
  join(folder, "page_source.cpp"),
  `// Made by report/bundle.mjs.\n#include "report/page_source.hpp"\n\nnamespace kith {\nnamespace {\n\n` +
    `constexpr char kPage[] =\n${pieces.join("\n")};\n\n}  // namespace\n\n` +
    `std::string_view page_source() { return {kPage, sizeof(kPage) - 1}; }\n\n}  // namespace kith\n`
);
