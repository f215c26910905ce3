// SPDX-License-Identifier: Apache-2.0
// Values of the metric that the page is about, as its table prints them.
import { METRICS } from "./model.js";
import { fixed, minus, signed } from "./numbers.js";

export const inPercent = (doc) => METRICS[doc.metric].unit === "%";
const digits = (doc) => (inPercent(doc) ? 2 : 4);
const scaled = (doc, number) => (number === null || number === undefined ? null : inPercent(doc) ? 100 * number : number);

export const value = (doc, number) => fixed(scaled(doc, number), digits(doc));

/** "12.00 %", and of a metric without a unit "0.3456". */
export const withUnit = (doc, number) => `${value(doc, number)}${inPercent(doc) ? " %" : ""}`;

/** A difference without its unit. */
export const plain = (doc, number) => minus(scaled(doc, number), digits(doc));

/** "2.50 points", and of a metric without a unit "0.0123". */
export const points = (doc, number) => `${plain(doc, number)}${inPercent(doc) ? " points" : ""}`;

/** The cell of the table: one partition has no standard deviation. */
export function meanText(doc, method) {
  if (method.mean === null) return method.finished.length > 0 ? "\u2013" : "";
  return method.finished.length > 1 ? `${value(doc, method.mean)} (${value(doc, method.sd)})` : value(doc, method.mean);
}

/** "+3.20 [0.40, 6.00]": the difference with its interval, where there is one. */
export function differenceText(doc, difference) {
  if (!difference) return "\u2013";
  const mean = signed(scaled(doc, difference.mean), digits(doc));
  return difference.low === null ? mean : `${mean} [${plain(doc, difference.low)}, ${plain(doc, difference.high)}]`;
}
