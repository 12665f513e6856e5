// The sections of links, journals, projections, placement and entities.

import { shortNames } from "./drawing.js";
import { $, bytes, duration, element, number, perSecond, ratesSince, reasons, row, since, whole } from "./elements.js";
import { poll } from "./polling.js";

let before = null; // the answer before, from which rates are computed

let actions = false;

// allowDetails says whether the page may act.
export function allowDetails(snapshot) { actions = snapshot.actions; }

// A node serves no field of what it does not use.
const unused = { links: [], linksLeftOut: 0, journals: [], projections: [], entityTypes: [], homeless: [], schedules: [], workflows: [] };

function show(served) {
  const details = { ...unused, ...served };
  showLinks(details);
  showJournals(details);
  showProjections(details);
  showPlacement(details);
  showEntities(details);
  showSchedules(details);
  showWorkflows(details);
  before = details;
  $("links-part").dataset.time = details.time;
}

function fill(id, rows) {
  $(id).hidden = rows.length === 0;
  $(id).tBodies[0].replaceChildren(...rows);
}

// shorten returns a function that leaves out the domain that all of some names have.
function shorten(names) {
  const short = shortNames(names.map((name) => ({ id: name, name })));
  return (name) => short.get(name) ?? name;
}

// nameCell shows a short name; the pointer shows the whole one.
function nameCell(className, name, short, ...notes) {
  const cell = element("td", className, "", ...notes);
  cell.prepend(whole(short(name)));
  cell.title = name;
  return cell;
}

const clock = (time) => new Date(time).toLocaleTimeString();

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

function showLinks(details) {
  const { links, linksLeftOut } = details;
  const rates = ratesSince(before, details, "links", "peer", "sentMessages", "sentBytes", "receivedMessages", "receivedBytes");
  const silent = links.filter(isBroken).length;
  $("links-count").textContent = `${number(links.length + linksLeftOut)}${silent ? `, ${number(silent)} without a connection` : ""}`;
  $("no-links").hidden = links.length > 0;
  $("links-left-out").hidden = linksLeftOut === 0;
  $("links-left-out").textContent = `${number(linksLeftOut)} more are left out. Those in trouble are shown first.`;
  const short = shorten(links.map((link) => link.name).filter(Boolean));
  fill("links", links.flatMap((link) => linkRows(link, details.time, short, rates.get(link.peer) ?? [])));
}

const isBroken = (link) => link.state === "refused" || link.state === "failing";

function linkRows(link, now, short, [sent, sentBytes, received, receivedBytes]) {
  const broken = isBroken(link);
  const rate = (bytesPerSecond) => bytesPerSecond !== undefined && bytes(Math.round(bytesPerSecond));
  const main = row([
    link.name ? nameCell("name", link.name, short, link.peer) : element("td", "name", link.peer),
    element("td", broken ? "plain bad" : "plain", link.state),
    since(link.since, now),
    element("td", "number plain", number(link.queued), link.queued && bytes(link.bytes), link.inDoubt && `${number(link.inDoubt)} on the way`, [link.full && "full", "bad"]),
    element("td", "number plain", perSecond(sent), rate(sentBytes)),
    element("td", "number plain", perSecond(received), rate(receivedBytes)),
    element("td", link.dropped ? "number plain bad" : "number plain", number(link.dropped)),
  ], { peer: link.peer });
  const error = link.lastError && [broken ? link.lastError : lastError(link), broken ? "bad" : ""];
  return [main, ...reasons(7, error)];
}

const lastError = ({ lastErrorAt, lastError }) => `last error, ${clock(lastErrorAt)}: ${lastError}`;

function showJournals({ journals }) {
  $("no-journals").hidden = journals.length > 0;
  $("journals-count").textContent = journals.length ? number(journals.length) : "";
  fill("journals", journals.flatMap(journalRows));
}

function journalRows(journal) {
  const failing = [["appends", journal.appends], ["claims", journal.claims], ["reads", journal.reads]].filter(([, calls]) => calls.failedInARow);
  const failures = failing.map(([what, calls]) =>
    [`${what} fail since ${clock(calls.failingSince)}, ${number(calls.failedInARow)} in a row: ${calls.failure}`, "bad"]);
  const last = !failing.length && journal.lastError && lastError(journal);
  const { fenced = 0, ...others } = journal.errors;
  const errors = Object.entries(others).map(([kind, count]) => `${number(count)} ${kind}`);
  const main = row([
    element("td", "name", journal.name),
    callsCell(journal.appends, `${number(journal.events)} events`),
    callsCell(journal.reads),
    callsCell(journal.claims),
    element("td", "number plain", number(sum(Object.values(others)))),
    element("td", fenced ? "number plain bad" : "number plain", number(fenced)),
  ], { journal: journal.name });
  return [main, ...reasons(6, ...failures, errors.length > 0 && `errors: ${errors.join(", ")}`, last)];
}

function callsCell(calls, note) {
  if (!calls.count) return element("td", "number plain", "0");
  return element("td", "number plain", number(calls.count), note, duration(calls.meanSeconds), `99 %: ≤ ${duration(calls.p99Seconds)}`);
}

function showProjections({ projections }) {
  $("projections-part").hidden = projections.length === 0;
  fill("projections", projections.flatMap(projectionRows));
}

const mostHeld = 5; // the command lists more

function projectionRows(one) {
  const held = element("td", one.skipped ? "number plain bad" : "number plain", number(one.skipped), [one.held && `${number(one.held)} ids held back`, "bad"]);
  if (one.held && actions) held.append(retryButton(one.name));
  const heldIDs = one.heldIDs ?? [];
  const texts = heldIDs.slice(0, mostHeld).map(({ id, from, last, failure }) => `${id}, from event ${from} to ${last}: ${failure}`);
  return [row([
    element("td", "name", one.name),
    element("td", "number plain", one.lagSeconds ? duration(one.lagSeconds) : "none"),
    element("td", "number plain", number(one.events)),
    held,
    element("td", "number plain", number(one.failures), [one.stalled && "stalled", "bad"]),
  ], { projection: one.name }), ...reasons(5, [(one.stalled || !texts.length) && one.failure, "bad"], ...texts)];
}

// retryButton makes a button that lets a projection try again what it holds back.
function retryButton(name) {
  const made = element("button", "", "Try again");
  made.addEventListener("click", async () => {
    made.disabled = true;
    try {
      const answer = await fetch(`actions/retry?projection=${encodeURIComponent(name)}`, { method: "POST", headers: { "Understudy-Action": "1" } });
      $("projections-result").textContent = answer.ok ? retried(await answer.json()) : await answer.text();
    } catch (error) {
      $("projections-result").textContent = `The node does not answer: ${error.message}`;
    }
  });
  return made;
}

function retried({ projection, done, held }) {
  if (!done) return `${projection} has not tried all yet.`;
  return held ? `${projection} still holds the events of ${held === 1 ? "1 id" : `${number(held)} ids`} back.` : `${projection} holds nothing back any more.`;
}

function showPlacement({ placement, placementFailure, time }) {
  $("placement-part").hidden = !placement && !placementFailure;
  $("placement-failure").hidden = !placementFailure;
  $("placement-failure").textContent = `The coordinator does not answer: ${placementFailure}`;
  $("placed-left-out").hidden = !placement?.actorsLeftOut;
  $("placement-moves").hidden = true;
  if (!placement) {
    $("placement-count").textContent = "";
    fill("placed", []);
    fill("places", []);
    return;
  }
  const { running = 0, active = 0 } = placement.states;
  const short = shorten(placement.nodes.map((node) => node.name));
  const wanted = sum(Object.values(placement.states));
  $("placement-count").textContent = `${number(running + active)} of ${number(wanted)} actors run; the coordinator is on ${short(placement.coordinator)}`;
  $("placed-left-out").textContent = `${number(placement.actorsLeftOut)} more are left out. Those in trouble are shown first.`;
  showMoves(placement);
  fill("placed", placement.actors.flatMap((actor) => placedRows(actor, time, short)));
  fill("places", placement.nodes.map((node) => placeRow(node, short)));
}

function showMoves({ moves, startFailures }) {
  const causes = Object.entries(moves).filter(([, count]) => count).map(([cause, count]) => `${number(count)} by ${cause}`);
  if (startFailures) causes.push(`${number(startFailures)} failed starts`);
  $("placement-moves").hidden = causes.length === 0;
  $("placement-moves").textContent = `Actors started anew since this coordinator began: ${causes.join(", ")}.`;
}

function placedRows(actor, now, short) {
  const next = actor.nextAttempt && `next attempt at ${clock(actor.nextAttempt)}`;
  const main = row([
    element("td", "name", actor.label, actor.singleton ? `${actor.type}, singleton` : actor.type),
    element("td", actor.trouble ? "plain bad" : "plain", actor.trouble && actor.running ? "cannot move" : actor.state),
    actor.node ? nameCell("wrap", actor.node, short) : element("td", "", "–"),
    since(actor.since, now),
    element("td", "number plain", number(actor.failures), next),
  ], { label: actor.label });
  return [main, ...reasons(5, [actor.why, actor.trouble ? "bad" : ""])];
}

function placeRow(node, short) {
  const state = node.draining ? "draining" : node.alive ? "takes actors" : node.ready ? "takes none" : "without placement";
  return row([
    nameCell("name", node.name, short),
    element("td", "number plain", number(node.actors)),
    element("td", node.alive ? "plain" : "plain bad", state),
  ], { node: node.name });
}

function showEntities({ entityTypes, homeless }) {
  $("entities-part").hidden = entityTypes.length === 0;
  const short = shorten(entityTypes.flatMap(({ homes }) => homes.map((home) => home.name)));
  fill("entities", entityTypes.flatMap((type) => entityRows(type, homeless.filter((one) => one.type === type.name), short)));
}

const total = (dropped) => Object.values(dropped).reduce((all, one) => all + one, 0);

// dropReasons says for each reason how many messages have been dropped.
function dropReasons(dropped) {
  return Object.entries(dropped).filter(([, count]) => count).map(([reason, count]) => [`${number(count)} dropped: ${reason}`, ""]);
}

function entityRows(type, homeless, short) {
  const main = row([
    element("td", "name", type.name, type.role && `on ${type.role}`),
    element("td", type.homeless ? "number plain bad" : "number plain", `${number(type.shards - type.homeless)} of ${number(type.shards)}`),
    element("td", "wrap", type.homes.map((home) => `${short(home.name) || home.id} ${number(home.shards)}`).join(", ") || "–"),
    element("td", "number plain", number(type.here), `${number(type.awake)} awake`),
    element("td", type.held ? "number plain bad" : "number plain", number(type.held), [total(type.dropped) && `${number(total(type.dropped))} dropped`, "bad"]),
    element("td", "number plain", number(type.failures)),
  ], { entities: type.name });
  const lease = type.lease && type.lease !== "held" && `no lease: ${type.lease}`;
  return [main, ...reasons(6, [type.refused, "bad"], [lease, "bad"], ...dropReasons(type.dropped), ...homeless.map(({ shards, why }) => [`${number(shards.length)} run nowhere: ${why}`, "bad"]))];
}

function showSchedules({ schedules, time }) {
  $("schedules-part").hidden = schedules.length === 0;
  fill("schedules", schedules.flatMap((one) => (one.here ? one.entries.flatMap((entry) => scheduleRows(one, entry, time)) : elsewhere(one))));
}

function showWorkflows({ workflows }) {
  $("workflows-part").hidden = workflows.length === 0;
  fill("workflows", workflows.flatMap((type) => [...type.runs.flatMap((run) => runRows(type, run)), ...inAll(type)]));
}

function runRows(type, run) {
  const bad = run.state === "held" || run.state === "failed";
  const steps = run.steps.map((step) => `${step.name} ${step.doing}${step.attempt > 1 ? `, attempt ${number(step.attempt)}` : ""}`);
  const main = row([
    element("td", "name", run.id, type.name, run.tag),
    element("td", bad ? "plain bad" : "plain", run.state, run.next && `again at ${clock(run.next)}`),
    element("td", "wrap", steps.join(", ") || "–"),
    element("td", "number plain", number(run.outcomes)),
    element("td", "plain", clock(run.began)),
  ], { run: `${type.name}/${run.id}` });
  const unasked = run.unasked.length > 0 && `The program does not ask for: ${run.unasked.join(", ")}`;
  return [main, ...reasons(5, [run.error, bad ? "bad" : ""], [unasked, "bad"], ...run.steps.map((step) => [step.error && `${step.name}: ${step.error}`, ""]))];
}

// inAll says what has become of the runs of a type on this node.
function inAll({ name, counts, leftOut }) {
  const { running = 0, done = 0, failed = 0, cancelled = 0 } = counts;
  const text = `${number(running)} have begun on this node, ${number(done)} are done, ${number(failed)} failed, ${number(cancelled)} cancelled`;
  return [row([element("td", "name", `All of ${name}`)], {}), ...reasons(5, [leftOut ? `${text}; ${number(leftOut)} in memory are left out` : text, ""])];
}

const elsewhere = (schedule) => [row([element("td", "name", schedule.name)], {}), ...reasons(6, ["It is on another node.", ""])];

function scheduleRows(schedule, entry, now) {
  const { done = 0, failed = 0, missed = 0, overlapped = 0 } = entry.counts;
  const waiting = entry.open.filter((run) => !run.begun).length;
  const main = row([
    element("td", "name", entry.name, schedule.name),
    element("td", "wrap", entry.spec, entry.zone || "UTC"),
    element("td", "plain", entry.paused ? "paused" : entry.next ? clock(entry.next) : "never"),
    element("td", "number plain", number(entry.open.length - waiting), waiting && `${number(waiting)} wait`),
    entry.last ? element("td", entry.last.error ? "plain bad" : "plain", entry.last.outcome, `due at ${clock(entry.last.due)}`) : element("td", "", "–"),
    element("td", failed ? "number plain bad" : "number plain", number(failed), `of ${number(done + failed)}`, missed + overlapped && `${number(missed + overlapped)} skipped`),
  ], { entry: entry.name });
  return [main, ...reasons(6, [entry.problem, "bad"], [entry.last?.error, "bad"])];
}

export function followDetails() { poll("details", show); }
