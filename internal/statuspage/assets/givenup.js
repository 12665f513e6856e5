// The messages that singletons have failed at too often. Where the handler has actions, each can be
// sent again or discarded.

import { $, element, number, row } from "./elements.js";
import { poll } from "./polling.js";

let actions = false;

// allowGivenUp says whether the page may act.
export function allowGivenUp(snapshot) { actions = snapshot.actions; }

export function followGivenUp() { poll("given-up", show); }

function show(answer) {
  $("given-up-section").hidden = answer.messages.length === 0;
  $("given-up-count").textContent = number(answer.messages.length);
  $("given-up").tBodies[0].replaceChildren(...answer.messages.map(messageRow));
}

function messageRow(message) {
  const at = new Date(message.time);
  const time = element("td", "plain number", at.toLocaleTimeString());
  time.title = at.toLocaleString();
  const cells = [
    time,
    element("td", "name", message.singleton),
    element("td", "wrap", message.type),
    element("td", "wrap", message.reason),
    element("td", "plain", ""),
  ];
  if (actions) cells.at(-1).append(button("Send again", "resend", message), button("Discard", "discard", message));
  return row(cells, { number: message.number });
}

function button(label, action, message) {
  const made = element("button", "", label);
  made.addEventListener("click", async () => {
    if (!confirm(`${label}: message ${message.number} to ${message.singleton}?`)) return;
    try {
      const answer = await fetch(`actions/${action}?number=${message.number}`, { method: "POST", headers: { "Understudy-Action": "1" } });
      if (answer.ok) made.closest("tr").remove();
      $("given-up-result").textContent = answer.ok ? "" : await answer.text();
    } catch (error) {
      $("given-up-result").textContent = `The node does not answer: ${error.message}`;
    }
  });
  return made;
}
