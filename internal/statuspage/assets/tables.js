// The tables beside the drawing: everything that is drawn is also said here.

import { shortNames } from "./drawing.js";
import { ago, whole } from "./elements.js";

const $ = (id) => document.getElementById(id);

// element makes an element with a class and children; strings become text.
function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

const word = (text) => String(text).replace(/[^a-z]/g, ""); // fit to be a class

export function showTables(s) {
  const names = new Map(s.members.map((m) => [m.id, m.name]));
  const nameOf = (id) => names.get(id) ?? id;
  showMembers(s, nameOf);
  showSingletons(s, nameOf);
  showExpected(s);
  showSettings(s);
}

function showMembers(s, nameOf) {
  const up = s.members.filter((m) => m.status === "up").length;
  $("members-count").textContent = `${s.members.length}, ${up} up${s.converged ? ", all agree" : ""}`;
  const byAge = [...s.members].sort((a, b) => (a.number || Infinity) - (b.number || Infinity) || a.id.localeCompare(b.id));
  $("members").tBodies[0].replaceChildren(...byAge.map((m) => memberRow(s, m, nameOf)));
}

function memberRow(s, m, nameOf) {
  const name = element("td", "name", whole(m.name));
  if (m.id === s.leader) name.append(" ", element("span", "mark leader", "★ leader"));
  if (m.id === s.self.id) name.append(" ", element("span", "mark self", "this node"));
  const meta = Object.entries(m.meta).map(([key, value]) => `${key}=${value}`).join(", ");
  if (meta) name.append(element("span", "note", meta));
  if (m.appVersion) name.append(element("span", "note", `version ${m.appVersion}`));
  const reachable = element("td", m.reachable ? "wrap" : "wrap bad", m.reachable ? "yes" : `no: ${few(m.unreachableBy.map(nameOf))} ${m.unreachableBy.length === 1 ? "does" : "do"} not hear from it`);
  const address = element("td", "address", m.address);
  address.title = m.id;
  const row = element("tr", "",
    element("td", "number", m.number ? String(m.number) : "–"),
    name, address,
    element("td", `plain status ${word(m.status)}`, m.status),
    element("td", "", m.roles.join(", ") || "–"),
    reachable);
  row.dataset.member = m.name;
  return row;
}

function few(names) {
  if (names.length <= 4) return names.join(", ");
  return `${names.slice(0, 3).join(", ")} and ${names.length - 3} others`;
}

function showSingletons(s, nameOf) {
  const short = shortNames(s.members);
  const all = s.singletons.length + s.singletonsLeftOut;
  $("singletons-count").textContent = all ? String(all) : "";
  $("singletons-left-out").hidden = s.singletonsLeftOut === 0;
  $("singletons-left-out").textContent = `${s.singletonsLeftOut} more are left out. Those in trouble are shown first.`;
  $("singletons").hidden = s.singletons.length === 0;
  $("no-singletons").hidden = s.singletons.length > 0;
  $("singletons").tBodies[0].replaceChildren(...s.singletons.map((one) => {
    const name = element("td", "name", one.name);
    if (one.placement) name.title = `on ${one.placement}`;
    const known = one.why.includes(one.mismatch); // always, when there is none
    const bad = (one.mismatch && known) || one.crashLoop || one.nowhere;
    if (one.why) name.append(element("span", bad ? "note bad" : "note", one.why));
    if (!known) name.append(element("span", "note bad", `it is another singleton than elsewhere: ${one.mismatch}`));
    const host = element("td", one.nowhere ? "wrap bad" : "wrap", one.host ? whole(short.get(one.host) ?? one.host) : one.nowhere ? "nowhere" : "–");
    if (one.host) host.title = nameOf(one.host);
    if (one.here) host.append(" ", element("span", "mark self", "runs here"));
    const since = element("td", "number plain");
    if (one.since) since.dataset.since = one.since;
    const generation = element("td", "number", one.here ? one.generation : one.term ? `term ${one.term}` : "–");
    if (one.fenced) generation.append(element("span", "note", "fenced"));
    if (one.lease) generation.append(lease(one));
    const messages = element("td", "number plain", String(one.held));
    if (one.unacknowledged) name.append(element("span", "note", `${one.unacknowledged} unacknowledged`));
    if (one.dropped) name.append(element("span", "note bad", `${one.dropped} dropped`));
    const row = element("tr", "", name, host, starts(one, name), element("td", "", one.phase || "–"), since, generation, messages);
    row.dataset.singleton = one.name;
    return row;
  }));
}

// starts is what the host has counted; the last error goes below the name.
function starts(one, name) {
  const at = one.atHost;
  if (!at) return element("td", "number", "–");
  const cell = element("td", "number", String(at.starts));
  const mood = one.crashLoop ? "note bad" : "note";
  if (at.failures) cell.append(element("span", mood, `${at.failures} failed`));
  if (one.crashLoop) cell.append(element("span", mood, `${at.restartsInARow} in a row`));
  if (at.lastError && !one.why.includes(at.lastError)) {
    const when = at.failedAt ? ` (${new Date(at.failedAt).toLocaleString()})` : "";
    name.append(element("span", mood, `last failure${when}: ${at.lastError}`));
  }
  return cell;
}

// lease says whether this node holds the lease of a singleton; which one that is, and why
// it was not got, is what the pointer shows.
function lease(one) {
  const note = element("span", "note", one.leaseHeld ? "lease held" : "lease not here");
  note.title = [one.lease, one.obstacle].filter(Boolean).join(": ");
  return note;
}

function list(target, pairs) {
  target.replaceChildren(...pairs.flatMap(([term, text]) => [element("dt", "", term), element("dd", "", text)]));
}

const seconds = (n) => `${Number(n.toFixed(2))} s`;

function showExpected({ expected }) {
  const failover = expected.failoverSeconds;
  list($("expected"), [
    ["A member dies", `it is unreachable after at most ${seconds(expected.detectionSeconds)}, if the network is quiet`],
    ["What ran there, fenced", failover === null ? "waits until somebody takes the member down" : `runs elsewhere after about ${seconds(failover)}`],
    ["Not fenced", failover === null ? `waits ${seconds(expected.unfencedMarginSeconds)} more` : `after about ${seconds(failover + expected.unfencedMarginSeconds)}`],
  ]);
}

function showSettings({ settings, skipped }) {
  const kinds = Object.entries(skipped ?? {}).map(([kind, count]) => `${count} of ${kind}`).join(", ");
  list($("settings"), [
    ["Seeds", settings.seeds.join(", ") || "none"],
    ["Downing", settings.downing],
    ["Leader", settings.leader],
    ["Heartbeat", `every ${seconds(settings.heartbeatIntervalSeconds)}; a pause of ${seconds(settings.acceptablePauseSeconds)} is acceptable; phi ${settings.threshold}`],
    ["Members at first", settings.minMembers === 1 ? "1" : `at least ${settings.minMembers}`],
    ["Once given up", settings.stayDown ? "a node stays down" : "a node joins again"],
    ...(kinds ? [["Skipped messages", `${kinds}: of kinds that only a newer release knows`]] : []),
  ]);
}

// tick brings what depends on the time up to date.
export function tick(skew) {
  for (const cell of document.querySelectorAll("[data-since]")) {
    cell.textContent = ago((Date.now() + skew - Date.parse(cell.dataset.since)) / 1000);
  }
}
