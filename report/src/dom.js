// SPDX-License-Identifier: Apache-2.0
// Elements made of names, attributes and texts. Texts are never read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Marks that are invisible or turn text around, made visible. */
export function visible(text) {
  return String(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (mark) => `\\u{${mark.codePointAt(0).toString(16)}}`
  );
}

/** A name that a user gave. */
export function name(text, most = Infinity) {
  const shown = visible(text);
  const cut = shown.length > most;
  return h("bdi", { title: cut ? shown : null }, cut ? `${shown.slice(0, most - 1)}\u2026` : shown);
}

export function short(text, most) {
  const shown = visible(text);
  return shown.length > most ? `${shown.slice(0, most - 1)}\u2026` : shown;
}
