// SPDX-License-Identifier: Apache-2.0
// Tables that sort by any column.
import { h, replace } from "./dom.js";

/** What a narrow table looks like may make it fit: so whether it is cut is asked of its plain form. */
function measure(holder) {
  const wide = () => holder.scrollWidth > holder.clientWidth + 1;
  const { classList } = holder.parentElement;
  classList.remove("cut", "scrolls");
  if (!wide()) return holder.removeAttribute("tabindex");
  classList.add("cut");
  if (!wide()) return holder.removeAttribute("tabindex");
  classList.add("scrolls");
  holder.tabIndex = 0;
}

const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => target.parentElement && measure(target)));

/** A table that may be wider than the page: then its first column stays, and a line above says that it scrolls. */
export function scrolling(content, ...below) {
  const holder = h("div", { class: "scroll" }, content);
  watcher.observe(holder);
  return h("div", { class: "scroller" }, h("p", { class: "hint", "aria-hidden": "true" }, "scrolls sideways \u2192"), holder, below);
}

/**
 * columns: { title, key: row => value to sort by, cell: row => content, number, class }
 * options: { rows, sort: {column, down}, rowClass, most, foot: contents of a last row that is not sorted }
 */
export function table(columns, { rows, sort = null, rowClass = () => null, label, className = "", most = Infinity, foot = null }) {
  const state = { column: sort?.column ?? -1, down: sort?.down ?? false, shown: most };
  const body = h("tbody");
  const heads = columns.map((column, c) =>
    h(
      "th",
      { scope: "col", class: [column.number ? "number" : "", column.class?.includes("screen") ? "screen" : ""].join(" ").trim() || null, "aria-sort": column.key ? "none" : null },
      column.key ? h("button", { type: "button", onclick: () => turn(c) }, column.title) : column.title
    )
  );
  const more = h("button", { type: "button", onclick: () => ((state.shown += most), draw()) }, "Show more");
  let current = rows;

  function turn(c) {
    state.down = state.column === c ? !state.down : Boolean(columns[c].downFirst);
    state.column = c;
    draw();
  }
  function compare(a, b) {
    const key = columns[state.column].key;
    const x = key(a);
    const y = key(b);
    const absent = (value) => value === null || value === undefined || Number.isNaN(value);
    if (absent(x) || absent(y)) return absent(x) - absent(y);
    const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return state.down ? -order : order;
  }
  function draw() {
    heads.forEach((head, c) => {
      if (!columns[c].key) return;
      head.setAttribute("aria-sort", c !== state.column ? "none" : state.down ? "descending" : "ascending");
    });
    const sorted = state.column >= 0 ? [...current].sort(compare) : current;
    replace(
      body,
      sorted.slice(0, state.shown).map((row) =>
        h(
          "tr",
          { class: rowClass(row) },
          columns.map((column) =>
            h("td", { class: [column.number ? "number" : "", column.class ?? ""].join(" ").trim() || null }, column.cell(row))
          )
        )
      )
    );
    more.hidden = sorted.length <= state.shown;
  }
  draw();
  const last = foot && h("tfoot", {}, h("tr", {}, columns.map((column, c) => h("td", { class: column.number ? "number" : null }, foot[c] ?? ""))));
  const element = scrolling(h("table", { class: className, "aria-label": label }, h("thead", {}, h("tr", {}, heads)), body, last), most < Infinity ? h("p", {}, more) : null);
  element.setRows = (fresh) => {
    current = fresh;
    state.shown = most;
    draw();
  };
  return element;
}
