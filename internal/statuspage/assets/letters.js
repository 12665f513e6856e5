// The table of dead letters.

import { poll } from "./polling.js";

const $ = (id) => document.getElementById(id);

let latest = { time: "", byReason: {}, letters: [] };

function cell(className, text, note) {
  const made = document.createElement("td");
  made.className = className;
  made.textContent = text;
  if (note) {
    const below = document.createElement("span");
    below.className = "note";
    below.textContent = note;
    made.append(below);
  }
  return made;
}

const number = (n) => Number(n).toLocaleString();

function total() {
  const reasons = Object.entries(latest.byReason).sort((a, b) => b[1] - a[1]);
  $("letters-count").textContent = number(reasons.reduce((sum, [, count]) => sum + count, 0));
  $("letters-reasons").replaceChildren(...reasons.flatMap(([reason, count]) => {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = reason;
    text.textContent = number(count);
    return [term, text];
  }));
  $("no-letters").hidden = reasons.length > 0;
  $("letters-list").hidden = latest.letters.length === 0;
}

// rows shows the letters in which each word of the filter occurs.
function rows() {
  const words = $("letters-filter").value.toLowerCase().split(/\s+/);
  const shown = latest.letters.filter((letter) => {
    const text = `${letter.recipient} ${letter.type} ${letter.reason} ${letter.text}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  $("letters-shown").textContent = `${shown.length} of the last ${latest.letters.length}`;
  $("letters").tBodies[0].replaceChildren(...shown.map(row));
}

function row(letter) {
  const made = document.createElement("tr");
  const last = new Date(letter.last);
  const time = cell("plain number", last.toLocaleTimeString());
  time.title = letter.count > 1 ? `${new Date(letter.first).toLocaleString()} to ${last.toLocaleString()}` : last.toLocaleString();
  made.append(time, cell("name", letter.recipient || "the zero ref"), cell("wrap", letter.type),
    cell("wrap", letter.reason, letter.text), cell("plain number", number(letter.count)));
  made.dataset.reason = letter.reason;
  return made;
}

export function followLetters() {
  $("letters-filter").addEventListener("input", rows);
  poll("dead-letters", (answer) => {
    latest = answer;
    total();
    rows();
  });
}
