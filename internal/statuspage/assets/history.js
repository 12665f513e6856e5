// The table of what the node has decided and noticed, newest first.

import { $, element, number, reasons, row } from "./elements.js";
import { poll } from "./polling.js";

function show({ events }) {
  $("history-count").textContent = events.length ? `the last ${number(events.length)} of this node` : "";
  $("history").tBodies[0].replaceChildren(...events.flatMap(eventRows));
  $("history-list").hidden = events.length === 0;
  $("no-history").hidden = events.length > 0;
}

function eventRows(event) {
  const last = new Date(event.last);
  const today = last.toDateString() === new Date().toDateString();
  const time = element("td", "plain number", last.toLocaleTimeString(), today ? "" : last.toLocaleDateString());
  time.title = event.count > 1 ? `${new Date(event.first).toLocaleString()} to ${last.toLocaleString()}` : last.toLocaleString();
  const cells = [
    time,
    element("td", "wrap", event.kind, event.count > 1 ? `${number(event.count)} times` : ""),
    element("td", "wrap", event.subject || "–"),
  ];
  return [row(cells, { kind: event.kind }), ...reasons(cells.length, event.reason)];
}

export function followHistory() { poll("history", show); }
