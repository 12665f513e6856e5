// What several parts of the page are made of.

export const $ = (id) => document.getElementById(id);

export const number = (n) => Number(n).toLocaleString();

// element makes an element with a class and text. Below the text are notes: texts, or pairs of a
// text and a mood. Empty notes are left out.
export function element(tag, className, text, ...notes) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  for (const each of notes) {
    const [note, mood] = Array.isArray(each) ? each : [each];
    if (!note) continue;
    const below = document.createElement("span");
    below.className = mood ? `note ${mood}` : "note";
    below.textContent = note;
    made.append(below);
  }
  return made;
}

// whole keeps a short name on one line: a browser would break it at its hyphen.
export const whole = (name) => (name.length <= 24 ? element("span", "whole", name) : name);

// row makes a row of a table.
export function row(cells, data) {
  const made = document.createElement("tr");
  made.append(...cells);
  Object.assign(made.dataset, data);
  return made;
}

// reasons makes a row below another one, as wide as the table is seen: one line for each text, or
// pair of a text and a mood. It makes none without a text.
export function reasons(columns, ...notes) {
  const cell = element("td", "why", "", ...notes);
  if (!cell.childElementCount) return [];
  cell.colSpan = columns;
  return [row([cell], {})];
}

// hideEcho hides what waits while the line above it says the same.
export function hideEcho() {
  const list = $("waiting").querySelector("ul");
  const said = $("stuck").hidden ? "" : $("stuck-why").textContent;
  for (const item of list.children) item.hidden = said !== "" && said.startsWith(item.textContent);
  list.hidden = [...list.children].every((item) => item.hidden);
}

// since makes a cell that says for how long something had been so at the time now. The page keeps
// it up to date.
export function since(time, now) {
  if (!time) return element("td", "number plain", "–");
  const cell = element("td", "number plain", ago((Date.parse(now) - Date.parse(time)) / 1000));
  cell.dataset.since = time;
  return cell;
}

export function ago(s) {
  if (s < 1) return "now";
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

// ratesSince returns by how much fields of the things in two lists have grown in a second, by the
// key of the things.
export function ratesSince(earlier, later, list, key, ...fields) {
  const rates = new Map();
  if (!earlier) return rates;
  const seconds = (Date.parse(later.time) - Date.parse(earlier.time)) / 1000;
  const known = new Map(earlier[list].map((each) => [each[key], each]));
  for (const each of later[list]) {
    const before = known.get(each[key]);
    const grown = fields.map((field) => (each[field] - before?.[field]) / seconds);
    if (seconds > 0 && grown.every((n) => n >= 0)) rates.set(each[key], grown);
  }
  return rates;
}

// perSecond says how fast something grows.
export const perSecond = (rate) => (rate === undefined ? "–" : number(Math.round(rate)));

export function duration(s) {
  if (s < 1e-3) return `${Number((s * 1e6).toPrecision(2))} µs`;
  if (s < 1) return `${Number((s * 1e3).toPrecision(2))} ms`;
  if (s < 60) return `${Number(s.toPrecision(2))} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

export function bytes(n) {
  for (const unit of ["B", "KiB", "MiB"]) {
    if (n < 1024) return `${Number(n.toPrecision(3))} ${unit}`;
    n /= 1024;
  }
  return `${Number(n.toPrecision(3))} GiB`;
}
