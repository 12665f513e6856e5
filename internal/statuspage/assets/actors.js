// The section of actors: kinds, slow handlers, and asks that wait for each other.

import { poll } from "./polling.js";

const $ = (id) => document.getElementById(id);

let before = null; // the answer before, from which rates are computed

function element(tag, className, text, note, mood) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  if (note) {
    const below = document.createElement("span");
    below.className = mood ? `note ${mood}` : "note";
    below.textContent = note;
    made.append(below);
  }
  return made;
}

const number = (n) => Number(n).toLocaleString();

function show(actors) {
  const rates = ratesSince(before, actors);
  before = actors;
  const sum = actors.kinds.reduce((n, kind) => n + kind.actors, 0);
  $("actors-count").textContent = `${number(sum)} of ${number(actors.kinds.length + actors.kindsLeftOut)} kinds; ${number(actors.ready)} ready, ${number(actors.blocked)} blocked`;
  $("kinds").tBodies[0].replaceChildren(...actors.kinds.map((kind) => kindRow(kind, rates.get(kind.name))));
  $("kinds-left-out").hidden = actors.kindsLeftOut === 0;
  $("kinds-left-out").textContent = `${number(actors.kindsLeftOut)} more are left out. Those with most waiting messages are shown first.`;
  showCircles(actors.circles);
  showHandlers(actors);
  $("stuck").hidden = actors.stuck === "";
  if ($("stuck-why").textContent !== actors.stuck) $("stuck-why").textContent = actors.stuck; // it is read aloud
  $("actors").dataset.time = actors.time;
}

// ratesSince returns how many messages each kind has handled in a second between two answers.
function ratesSince(earlier, later) {
  const rates = new Map();
  if (!earlier) return rates;
  const seconds = (Date.parse(later.time) - Date.parse(earlier.time)) / 1000;
  const known = new Map(earlier.kinds.map((kind) => [kind.name, kind.messages]));
  for (const kind of later.kinds) {
    const handled = kind.messages - (known.get(kind.name) ?? NaN);
    if (seconds > 0 && handled >= 0) rates.set(kind.name, handled / seconds);
  }
  return rates;
}

function kindRow(kind, rate) {
  const time = kind.timed ? duration(kind.meanSeconds) : "–";
  const row = document.createElement("tr");
  row.append(
    element("td", "name", kind.name),
    element("td", "number plain", number(kind.actors)),
    element("td", "number plain", rate === undefined ? "–" : number(Math.round(rate))),
    element("td", "number plain", number(kind.waiting), kind.stashed ? `${number(kind.stashed)} stashed` : ""),
    element("td", "number plain", time, kind.timed ? `99 %: ≤ ${duration(kind.p99Seconds)}` : ""),
    element("td", "number plain", number(kind.failures), kind.restarts ? `${number(kind.restarts)} restarts` : "", ""));
  row.dataset.kind = kind.name;
  return row;
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
    const row = document.createElement("tr");
    const waitsFor = waits.get(handler.path) ?? (asksLeftOut && handler.blocked ? "not listed" : "–");
    row.append(
      element("td", "name", handler.path, handler.kind === handler.message ? "" : handler.kind),
      element("td", "wrap", handler.message, handler.blocked ? "blocked" : ""),
      element("td", "number plain", duration(handler.seconds)),
      element("td", "wrap", waitsFor));
    row.dataset.actor = handler.path;
    return row;
  }));
}

function duration(s) {
  if (s < 1e-3) return `${Number((s * 1e6).toPrecision(2))} µs`;
  if (s < 1) return `${Number((s * 1e3).toPrecision(2))} ms`;
  if (s < 60) return `${Number(s.toPrecision(2))} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

export function followActors() { poll("actors", show); }
