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
  if (actions) cells.at(-1).append(...buttons(message.number, message.singleton, $("given-up-result")));
  return row(cells, { number: message.number });
}

// buttons makes the buttons that send a message again or discard it, once that is confirmed.
// result shows what has become of it, and the row of the buttons vanishes.
export function buttons(number, to, result) {
  return [button("Send again", "resend", number, to, result), button("Discard", "discard", number, to, result)];
}

function button(label, action, number, to, result) {
  const made = element("button", "", label);
  made.addEventListener("click", async () => {
    if (!confirm(`${label}: message ${number} to ${to}?`)) return;
    try {
      const answer = await fetch(`actions/${action}?number=${number}`, { method: "POST", headers: { "Understudy-Action": "1" } });
      const text = await answer.text();
      if (answer.ok) made.closest("tr").remove();
      result.textContent = answer.ok && text ? outcome(JSON.parse(text)) : text;
    } catch (error) {
      result.textContent = `The node does not answer: ${error.message}`;
    }
  });
  return made;
}

// outcome says what has become of the message of a dead letter that was sent again.
function outcome({ number, outcome, to, reason, again }) {
  return [`${number}: ${outcome}${again && ` as ${again}`}`, to, reason].filter(Boolean).join(", ");
}
