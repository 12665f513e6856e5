// The section of actors: kinds, slow handlers, and asks that wait for each other.

import { $, duration, element, hideEcho, number, perSecond, ratesSince, row } from "./elements.js";
import { poll } from "./polling.js";

let before = null; // the answer before, from which rates are computed

function show(actors) {
  const rates = ratesSince(before, actors, "kinds", "name", "messages");
  before = actors;
  const sum = actors.kinds.reduce((n, kind) => n + kind.actors, 0);
  $("actors-count").textContent = `${number(sum)} of ${number(actors.kinds.length + actors.kindsLeftOut)} kinds; ${number(actors.ready)} ready, ${number(actors.blocked)} blocked`;
  $("kinds").tBodies[0].replaceChildren(...actors.kinds.map((kind) => kindRow(kind, rates.get(kind.name) ?? [])));
  $("kinds-left-out").hidden = actors.kindsLeftOut === 0;
  $("kinds-left-out").textContent = `${number(actors.kindsLeftOut)} more are left out. Those with most waiting messages are shown first.`;
  showCircles(actors.circles);
  showHandlers(actors);
  showBacklogs(actors.backlogs);
  $("stuck").hidden = actors.stuck === "";
  if ($("stuck-why").textContent !== actors.stuck) $("stuck-why").textContent = actors.stuck; // it is read aloud
  hideEcho();
  $("actors").dataset.time = actors.time;
}

function kindRow(kind, [rate]) {
  const time = kind.timed ? duration(kind.meanSeconds) : "–";
  return row([
    element("td", "name", kind.name),
    element("td", "number plain", number(kind.actors)),
    element("td", "number plain", perSecond(rate)),
    element("td", "number plain", number(kind.waiting), [
      kind.stashed ? `${number(kind.stashed)} stashed` : "", kind.oldestSeconds ? `oldest ${duration(kind.oldestSeconds)}` : "", droppedText(kind.dropped)].filter(Boolean).join(", ")),
    element("td", "number plain", time, kind.timed ? `99 %: ≤ ${duration(kind.p99Seconds)}` : ""),
    element("td", "number plain", number(kind.failures), kind.restarts ? `${number(kind.restarts)} restarts` : ""),
  ], { kind: kind.name });
}

function showCircles(circles) {
  $("circles-part").hidden = circles.length === 0;
  $("circles").replaceChildren(...circles.map((paths) =>
    element("li", "", paths.map((path, i) => `${path} asks ${paths[(i + 1) % paths.length]}`).join(", "))));
}

function showHandlers({ handlers, asks, slow, asksLeftOut }) {
  const waits = new Map(asks.map((ask) => [ask.asker, ask.asked]));
  const shown = handlers.filter((handler) => handler.seconds >= 0.1);
  $("handlers-part").hidden = shown.length === 0;
  $("handlers-count").textContent = slow ? `${number(slow)} for a second or longer` : "";
  $("handlers").tBodies[0].replaceChildren(...shown.map((handler) => {
    const waitsFor = waits.get(handler.path) ?? (asksLeftOut && handler.blocked ? "not listed" : "–");
    return row([
      element("td", "name", handler.path, handler.kind === handler.message ? "" : handler.kind),
      element("td", "wrap", handler.message, handler.blocked ? "blocked" : ""),
      element("td", "number plain", duration(handler.seconds)),
      element("td", "wrap", waitsFor),
    ], { actor: handler.path });
  }));
}

function droppedText(dropped) {
  const sum = Object.values(dropped ?? {}).reduce((n, count) => n + count, 0);
  return sum ? `${number(sum)} dropped` : "";
}

// showBacklogs shows the actors of the whole cluster that are most behind.
function showBacklogs(backlogs) {
  $("backlogs-part").hidden = backlogs.length === 0;
  $("backlogs").tBodies[0].replaceChildren(...backlogs.map((backlog) => row([
    element("td", backlog.why ? "name bad" : "name", backlog.actor, backlog.kind),
    element("td", "wrap", backlog.node),
    element("td", "number plain", number(backlog.waiting)),
    element("td", "number plain", backlog.oldestSeconds ? duration(backlog.oldestSeconds) : "–", backlog.oldestSeconds ? `of ${duration(backlog.askSeconds)}` : ""),
    element("td", "wrap", Object.entries(backlog.dropped).map(([reason, count]) => `${number(count)} ${reason}`).join(", ") || "–"),
  ], { actor: backlog.actor })));
}

export function followActors() { poll("actors", show); }
