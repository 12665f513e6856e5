// The page draws what the node streams: a whole snapshot each time something has changed.
// Names come from other nodes, so they only ever become text, never markup.

import { draw } from "./drawing.js";
import { showTables, tick } from "./tables.js";
import { showAbsent } from "./founding.js";
import { allowLetters, followLetters } from "./letters.js";
import { allowGivenUp, followGivenUp } from "./givenup.js";
import { allowEntity, offerEntity } from "./entity.js";
import { followHistory } from "./history.js";
import { followActors } from "./actors.js";
import { allowDetails, followDetails } from "./details.js";
import { $, hideEcho } from "./elements.js";

let latest = null; // the newest snapshot
let skew = 0; // the node's clock minus ours, in milliseconds

function show(snapshot) {
  latest = snapshot;
  skew = Date.parse(snapshot.time) - Date.now();
  showHead(snapshot);
  draw($("drawing"), snapshot);
  showTables(snapshot);
  tick(skew);
  document.body.dataset.version = snapshot.version;
}

function showHead(snapshot) {
  document.title = `${snapshot.cluster} · cluster`;
  $("cluster").textContent = snapshot.cluster;
  $("seen-from").textContent = `as ${snapshot.self.name} sees it`;
  const failed = snapshot.ready.find((check) => !check.ok);
  badge($("ready"), failed ? "not ready" : "ready", failed ? "bad" : "good");
  $("ready").title = failed ? failed.reason : "";
  $("waiting").hidden = snapshot.waiting.length === 0;
  $("waiting").querySelector("ul").replaceChildren(...snapshot.waiting.map((why) => {
    const item = document.createElement("li");
    item.textContent = why;
    return item;
  }));
  hideEcho();
  showAbsent(snapshot);
  allowGivenUp(snapshot);
  allowLetters(snapshot);
  allowEntity(snapshot);
  allowDetails(snapshot);
}

function badge(element, text, mood) {
  if (element.textContent !== text) element.textContent = text; // it is read aloud
  element.className = `badge ${mood}`;
}

function connect() {
  const events = new EventSource("events");
  events.addEventListener("open", () => {
    badge($("connection"), "live", "good");
    document.body.classList.remove("stale");
  });
  events.addEventListener("status", (event) => show(JSON.parse(event.data)));
  events.addEventListener("error", () => {
    const ended = latest !== null && latest.live.some((check) => !check.ok);
    badge($("connection"), ended ? "node has ended" : "reconnecting", "bad");
    document.body.classList.add("stale");
    if (events.readyState !== EventSource.CLOSED) return; // the browser tries again
    events.close();
    setTimeout(connect, 5000);
  });
}

setInterval(() => tick(skew), 1000);
connect();
offerEntity();
followLetters();
followGivenUp();
followHistory();
followActors();
followDetails();
