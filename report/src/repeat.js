// SPDX-License-Identifier: Apache-2.0
// How to do it again: command, versions, seed, data, protocol.
import { h, name, visible } from "./dom.js";
import { settingsWords } from "./methods.js";

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

/** Methods that the first command does not name: a store keeps the command that began it, not those that went on. */
function addedLater(command, methods) {
  const flags = [...command.matchAll(/ --methods[ =]('[^']*'|\S+)/g)].map((found) => found[1].replaceAll("'", ""));
  const named = new Set(flags.flatMap((list) => list.split(",")).map((one) => one.split("=")[0].trim()));
  const later = methods.filter((method) => !named.has(method.method));
  return later.length < methods.length ? later : [];
}

export function repeatSection(doc, set) {
  const about = { ...set.about };
  const command = about.command;
  delete about.command;
  delete about.no_portraits_because; // said where the picture would be
  const later = command ? addedLater(command, set.methods) : [];
  // What each matrix is says where it comes from, too.
  if (about.matrices) for (const key of ["similarity", "data", "measure"]) delete about[key];
  return h(
    "section",
    { id: "repeat" },
    h("h2", {}, "How to repeat it"),
    command ? [h("p", {}, "The command that put the data set into the store:"), h("pre", { tabindex: "0" }, visible(command))] : null,
    later.length > 0
      ? [
          h("p", {}, "Further commands, which the store does not keep, added:"),
          h("ul", { id: "later" }, later.map((method) => h("li", {}, name(method.method), ": ", settingsWords(method)))),
        ]
      : null,
    h("p", {}, `The same ${later.length > 0 ? "methods with the same settings" : "command"} on the same data give${later.length > 0 ? "" : "s"} the same numbers: partitions, folds and every choice follow from the seed, whatever the number of threads.`),
    h(
      "div",
      { class: "columns" },
      h("div", {}, rows("Data", { name: set.name, samples: set.n, fingerprint: set.fingerprint, ...about })),
      h("div", {}, rows("Protocol", set.protocol), rows("Input", set.input))
    )
  );
}
