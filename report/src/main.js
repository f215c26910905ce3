// SPDX-License-Identifier: Apache-2.0
// Puts the page together from its document.
import { h, name, replace, visible } from "./dom.js";
import { dataSection } from "./data.js";
import { methodsSection } from "./methods.js";
import { readDocument } from "./model.js";
import { ranksSection } from "./ranks.js";
import { repeatSection } from "./repeat.js";
import { resultsSection } from "./results.js";
import { samplesSection } from "./samples.js";
import { SECTIONS, scorePage, scoreTitle } from "./score.js";

const doc = readDocument();
const several = doc.data_sets.length > 1;
const body = h("div");
let samples = null;

function themeButton() {
  const next = { "": "dark", dark: "light", light: "" };
  const words = { "": "theme: system", dark: "theme: dark", light: "theme: light" };
  const button = h("button", { type: "button", id: "theme", onclick: () => turn() });
  function turn(first = false) {
    const root = document.documentElement;
    const theme = first ? "" : next[root.dataset.theme ?? ""];
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    replace(button, words[theme]);
  }
  turn(true);
  return button;
}

function bar() {
  const links = doc.kind === "inspection" ? [] : doc.kind === "score" ? SECTIONS : [["results", "Results"], ["data", "Data"], ["methods", "Methods"], ["samples", "Samples"], ["repeat", "Repeat"]];
  if (several && doc.kind === "report") links.unshift(["ranks", "All data sets"]);
  return h(
    "header",
    { class: "bar" },
    h(
      "div",
      { class: "wide" },
      h("span", { class: "brand" }, "kith"),
      h("nav", { "aria-label": "sections" }, links.map(([id, text]) => h("a", { href: `#${id}` }, text))),
      themeButton(),
      h("button", { type: "button", onclick: () => window.print() }, "print")
    )
  );
}

const pick = (i) => {
  location.hash = `sample-${i}`;
};

function show(index) {
  if (doc.kind === "score") return replace(body, scorePage(doc));
  const set = doc.data_sets[index];
  if (doc.kind === "inspection") {
    return replace(body, doc.data_sets.map((one) => inspected(one)));
  }
  samples = set.labels && set.methods.some((method) => method.finished.length > 0) ? samplesSection(set) : null;
  replace(body, resultsSection(doc, set), dataSection(doc, set, samples ? pick : null), methodsSection(doc, set), samples, repeatSection(doc, set));
}

function inspected(set) {
  const last = set.index === doc.data_sets.length - 1;
  const section = dataSection(last ? doc : { ...doc, agreement: null, advice: [], notes: [] }, set, null);
  section.id = `data-${set.index}`;
  section.querySelector("h2").replaceWith(h("h1", {}, name(set.name)));
  return section;
}

function follow() {
  const [, kind, number] = /^#(sample|method)-(\d+)$/.exec(location.hash) ?? [];
  if (kind === "sample") samples?.open(Number(number));
  if (kind === "method") {
    const details = document.getElementById(`method-${number}`);
    if (!details) return;
    details.open = true;
    details.scrollIntoView();
  }
}

document.title = `${doc.kind === "score" ? scoreTitle(doc) : visible(doc.data_sets.map((set) => set.name).join(", "))} \u2013 kith`;
replace(
  document.getElementById("app"),
  bar(),
  h(
    "main",
    { class: "wide", id: "main" },
    several && doc.kind === "report" ? ranksSection(doc, show) : null,
    body,
    h("footer", {}, `Made by kith ${doc.kith}. One file, nothing is loaded from anywhere.`)
  )
);
show(0);
window.addEventListener("hashchange", follow);
follow();
document.documentElement.dataset.ready = "yes";
