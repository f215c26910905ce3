// SPDX-License-Identifier: Apache-2.0
// How to do it again: command, versions, seed, data, protocol.
import { h, name, visible } from "./dom.js";

/** Lists as lines, objects as "key value" pairs: nothing of JSON but what has no other form. */
function plain(v) {
  if (typeof v === "string") return name(v);
  if (Array.isArray(v)) return v.map((one, i) => [i > 0 ? h("br") : null, plain(one)]);
  if (v !== null && typeof v === "object") {
    return Object.entries(v).map(([key, one], i) => [i > 0 ? ", " : null, h("span", { class: "faint" }, `${visible(key)} `), plain(one)]);
  }
  return name(JSON.stringify(v));
}

function rows(title, object) {
  const entries = Object.entries(object ?? {});
  if (entries.length === 0) return null;
  return [
    h("h3", {}, title),
    h(
      "table",
      { class: "facts", "aria-label": title },
      h("tbody", {}, entries.map(([key, v]) => h("tr", {}, h("th", { scope: "row" }, visible(key)), h("td", {}, plain(v)))))
    ),
  ];
}

export function repeatSection(doc, set) {
  const about = { ...set.about };
  const command = about.command;
  delete about.command;
  // What each matrix is says where it comes from, too.
  if (about.matrices) for (const key of ["similarity", "data", "measure"]) delete about[key];
  return h(
    "section",
    { id: "repeat" },
    h("h2", {}, "How to repeat it"),
    command ? [h("p", {}, "The command that put the data set into the store:"), h("pre", { tabindex: "0" }, visible(command))] : null,
    h("p", {}, "The same command with the same data gives the same numbers: partitions, folds and every choice follow from the seed, whatever the number of threads."),
    h(
      "div",
      { class: "columns" },
      h("div", {}, rows("Data", { name: set.name, samples: set.n, fingerprint: set.fingerprint, ...about })),
      h("div", {}, rows("Protocol", set.protocol), rows("Input", set.input))
    )
  );
}
