// What an entity or a singleton has stored: a form, its state as a tree, and its last events. It is
// there only where the handler shows states.

import { $, element, number, row } from "./elements.js";

export function allowEntity(snapshot) { $("entity-part").hidden = !snapshot.states; }

export function offerEntity() {
  $("entity-form").addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
}

async function look() {
  const query = new URLSearchParams({ type: $("entity-type").value, id: $("entity-id").value, events: "20" });
  if ($("entity-at").value) query.set("at", $("entity-at").value);
  $("entity-found").hidden = true;
  try {
    const answer = await fetch(`entity?${query}`);
    if (answer.ok) show(await answer.json());
    $("entity-result").textContent = answer.ok ? "" : await answer.text();
  } catch (error) {
    $("entity-result").textContent = `The node does not answer: ${error.message}`;
  }
}

function show(found) {
  const stored = found.time ? `, stored ${new Date(found.time).toLocaleString()}` : "";
  $("entity-seq").textContent = found.seq ? `${found.persistenceID}, event ${number(found.seq)}${stored}` : `Nothing is stored for ${found.persistenceID}.`;
  $("entity-state").replaceChildren(...(found.seq ? [tree("State", found.state)] : []));
  $("entity-events").hidden = found.events.length === 0;
  $("entity-events").tBodies[0].replaceChildren(...found.events.toReversed().map(eventRow));
  $("entity-found").hidden = false;
}

// tree shows a map or a list with its parts below it, and any other value in a line.
function tree(name, value) {
  const label = element("span", "faint", `${name} `);
  if (value === null || typeof value !== "object") {
    const leaf = element("li", "leaf", "");
    leaf.append(label, JSON.stringify(value));
    return leaf;
  }
  const parts = Object.entries(value);
  const folder = document.createElement("details");
  folder.open = parts.length <= 50;
  const title = element("summary", "", "");
  title.append(label, Array.isArray(value) ? `[${number(parts.length)}]` : `{${number(parts.length)}}`);
  const list = document.createElement("ul");
  list.append(...parts.map(([key, part]) => tree(key, part)));
  folder.append(title, list);
  const node = document.createElement("li");
  node.append(folder);
  return node;
}

function eventRow(event) {
  const at = new Date(event.time);
  const time = element("td", "plain number", at.toLocaleTimeString());
  time.title = at.toLocaleString();
  const content = event.shredded ? "its key was destroyed" : event.error || JSON.stringify(event.event);
  return row([
    element("td", "plain number", number(event.seq)), time,
    element("td", "name", event.type), element("td", event.error ? "wrap bad" : "wrap", content),
  ], { seq: event.seq });
}
