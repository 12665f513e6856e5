// The table of dead letters.

import { $, element, number, row } from "./elements.js";
import { buttons } from "./givenup.js";
import { poll } from "./polling.js";

let actions = false;

// allowLetters says whether the page may act.
export function allowLetters(snapshot) { actions = snapshot.actions; }

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
  $("letters-message").hidden = !latest.letters.some(keeps);
  $("letters").tBodies[0].replaceChildren(...shown.map(letterRow));
}

// A node that keeps no messages says nothing about them.
const keeps = (letter) => letter.numbers.length > 0 || letter.notKept !== "";

// messageCell has the messages that are kept, of which the buttons take the oldest.
function messageCell({ numbers, notKept, asked, recipient }) {
  const text = numbers.length > 1 ? `${numbers[0]} to ${numbers.at(-1)}` : numbers[0];
  const cell = element("td", "wrap", text ?? "", notKept && `not kept: ${notKept}`, text && asked && "its ask has ended: a reply reaches nobody");
  if (actions && text) cell.append(...buttons(numbers[0], recipient, $("letters-result")));
  return cell;
}

function letterRow(letter) {
  const last = new Date(letter.last);
  const time = element("td", "plain number", last.toLocaleTimeString());
  time.title = letter.count > 1 ? `${new Date(letter.first).toLocaleString()} to ${last.toLocaleString()}` : last.toLocaleString();
  const cells = [
    time,
    element("td", "name", letter.recipient || "the zero ref"),
    element("td", "name", letter.sender),
    element("td", "wrap", letter.type),
    element("td", "wrap", letter.reason, letter.text),
    element("td", "plain number", number(letter.count)),
  ];
  if (!$("letters-message").hidden) cells.push(messageCell(letter));
  return row(cells, { reason: letter.reason });
}

export function followLetters() {
  $("letters-filter").addEventListener("input", rows);
  poll("dead-letters", (answer) => {
    latest = answer;
    total();
    rows();
  });
}
