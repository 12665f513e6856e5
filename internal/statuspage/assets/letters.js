// The table of dead letters.

import { $, element, number, row } from "./elements.js";
import { poll } from "./polling.js";

let latest = { time: "", byReason: {}, letters: [] };

function total() {
  const reasons = Object.entries(latest.byReason).sort((a, b) => b[1] - a[1]);
  $("letters-count").textContent = number(reasons.reduce((sum, [, count]) => sum + count, 0));
  $("letters-reasons").replaceChildren(...reasons.flatMap(([reason, count]) => [element("dt", "", reason), element("dd", "", number(count))]));
  $("no-letters").hidden = reasons.length > 0;
  $("letters-list").hidden = latest.letters.length === 0;
}

// rows shows the letters in which each word of the filter occurs.
function rows() {
  const words = $("letters-filter").value.toLowerCase().split(/\s+/);
  const shown = latest.letters.filter((letter) => {
    const text = `${letter.recipient} ${letter.sender} ${letter.type} ${letter.reason} ${letter.text}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  $("letters-shown").textContent = `${shown.length} of the last ${latest.letters.length}`;
  $("letters").tBodies[0].replaceChildren(...shown.map(letterRow));
}

function letterRow(letter) {
  const last = new Date(letter.last);
  const time = element("td", "plain number", last.toLocaleTimeString());
  time.title = letter.count > 1 ? `${new Date(letter.first).toLocaleString()} to ${last.toLocaleString()}` : last.toLocaleString();
  return row([
    time,
    element("td", "name", letter.recipient || "the zero ref"),
    element("td", "name", letter.sender),
    element("td", "wrap", letter.type),
    element("td", "wrap", letter.reason, letter.text),
    element("td", "plain number", number(letter.count)),
  ], { reason: letter.reason });
}

export function followLetters() {
  $("letters-filter").addEventListener("input", rows);
  poll("dead-letters", (answer) => {
    latest = answer;
    total();
    rows();
  });
}
