// The drawing: members on a circle by age, with their labels outside of it, the links
// between them, and singletons in the middle, each tied to its host.

const crowd = 12; // more members than this are a crowd: only broken links, and short labels
const mostPills = { few: 7, many: 12 }; // singletons that are drawn

function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const word = (text) => String(text).replace(/[^a-z]/g, ""); // fit to be a class

// cut shortens a text in the middle: names differ at their ends.
function cut(text, length) {
  const letters = [...text];
  if (letters.length <= length) return text;
  const head = Math.floor((length - 1) * 0.45);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (length - 1 - head)).join("")}`;
}

// shortNames returns the names of members without the domain that all of them have.
export function shortNames(members) {
  const domain = (name) => (name.includes(".") ? name.slice(name.indexOf(".")) : "");
  const common = members.length > 1 ? domain(members[0].name) : "";
  const shared = common !== "" && members.every((m) => domain(m.name) === common && m.name !== common);
  return new Map(members.map((m) => [m.id, shared ? m.name.slice(0, -common.length) : m.name]));
}
const round = (n) => Math.round(n * 10) / 10;

export function draw(svg, s) {
  const plan = layout(s.members);
  const title = shape("title", { id: "drawing-title" }, summary(s));
  svg.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
  svg.replaceChildren(title, arrowHead(), links(s, plan), singletons(s, plan), members(s, plan));
}

function summary(s) {
  const leader = s.members.find((m) => m.id === s.leader);
  const lost = s.members.filter((m) => !m.reachable).length;
  return `${s.members.length} members${leader ? `, led by ${leader.name}` : ", nobody leads"}` +
    `${lost ? `, ${lost} unreachable` : ""}; the tables say the same.`;
}

// layout gives each member its place.
function layout(all) {
  const sorted = [...all].sort((a, b) => (a.number || Infinity) - (b.number || Infinity) || (a.id < b.id ? -1 : 1));
  const n = sorted.length;
  const many = n > crowd;
  const plan = many
    ? { many, width: 1000, height: 960, radius: 300, node: Math.max(7, Math.min(20, (300 * Math.PI * 0.72) / n)) }
    : { many, width: 780, height: 570, radius: n === 1 ? 120 : n === 2 ? 170 : 190, node: n > 8 ? 22 : 27 };
  plan.x = plan.width / 2;
  plan.y = plan.height / 2 + (n === 3 ? 35 : 0); // a triangle stands above its middle
  plan.names = shortNames(sorted);
  plan.places = new Map(sorted.map((m, i) => {
    const angle = (n === 2 ? Math.PI : -Math.PI / 2) + (2 * Math.PI * i) / n;
    return [m.id, { member: m, angle, x: round(plan.x + plan.radius * Math.cos(angle)), y: round(plan.y + plan.radius * Math.sin(angle)) }];
  }));
  return plan;
}

function arrowHead() {
  return shape("defs", {}, shape("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" },
    shape("path", { d: "M0 0 10 5 0 10z", class: "arrow" })));
}

// links are lines between members that hear each other, and an arrow from who does not
// hear to whom.
function links(s, plan) {
  const group = shape("g", { class: plan.many ? "many" : "" });
  const broken = new Set(s.members.flatMap((m) => m.unreachableBy.map((by) => `${by} ${m.id}`)));
  if (plan.many) group.append(shape("circle", { class: "mesh", cx: plan.x, cy: plan.y, r: plan.radius }));
  else whole(plan, broken).forEach((line) => group.append(line));
  for (const m of s.members) {
    for (const by of m.unreachableBy) {
      if (plan.places.has(by)) group.append(brokenLink(plan, plan.places.get(by), plan.places.get(m.id)));
    }
  }
  return group;
}

function whole(plan, broken) {
  const places = [...plan.places.values()].filter((p) => ["up", "joining", "leaving", "exiting"].includes(p.member.status));
  return places.flatMap((a, i) => places.slice(i + 1)
    .filter((b) => !broken.has(`${a.member.id} ${b.member.id}`) && !broken.has(`${b.member.id} ${a.member.id}`))
    .map((b) => shape("line", { class: "mesh", x1: a.x, y1: a.y, x2: b.x, y2: b.y })));
}

// brokenLink bends to its left, so that those of the two directions are apart.
function brokenLink(plan, from, to) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
  const bend = plan.many ? 0 : 0.09 * length, gap = plan.node + 8;
  const middle = { x: (from.x + to.x) / 2 + (dy / length) * bend, y: (from.y + to.y) / 2 - (dx / length) * bend };
  const near = (p) => {
    const l = Math.hypot(middle.x - p.x, middle.y - p.y) || 1;
    return `${round(p.x + ((middle.x - p.x) / l) * gap)} ${round(p.y + ((middle.y - p.y) / l) * gap)}`;
  };
  return shape("path", {
    class: "broken", "marker-end": "url(#arrow)", "data-from": from.member.name, "data-to": to.member.name,
    d: `M${near(from)}Q${round(middle.x)} ${round(middle.y)} ${near(to)}`,
  }, shape("title", {}, `${from.member.name} does not hear from ${to.member.name}`));
}

function members(s, plan) {
  return shape("g", {}, ...[...plan.places.values()].map((place) => member(s, plan, place)));
}

function member(s, plan, place) {
  const m = place.member;
  const classes = ["member", word(m.status)];
  if (!m.reachable) classes.push("unreachable");
  if (m.id === s.self.id) classes.push("self");
  const group = shape("g", { class: classes.join(" "), "data-member": m.name },
    shape("title", {}, describe(s, m)),
    shape("circle", { class: "halo", cx: place.x, cy: place.y, r: round(plan.node + 6) }),
    shape("circle", { class: "body", cx: place.x, cy: place.y, r: round(plan.node) }));
  if (plan.node >= 9) {
    group.append(shape("text", { class: "number", x: place.x, y: place.y, "font-size": round(Math.min(18, plan.node * 0.9)) }, m.number ? String(m.number) : "–"));
  }
  if (m.id === s.leader) group.append(crown(plan, place));
  group.append(...(plan.many ? rayLabel(plan, place) : label(s, plan, place)));
  return group;
}

function describe(s, m) {
  const parts = [m.name, m.id, m.status];
  if (m.roles.length) parts.push(`roles: ${m.roles.join(", ")}`);
  if (m.id === s.leader) parts.push("leader");
  if (m.id === s.self.id) parts.push("this node");
  if (!m.reachable) parts.push("unreachable");
  return parts.join("\n");
}

// crown is a star at the rim of the leader.
function crown(plan, place) {
  const size = plan.many ? 11 : 14, at = plan.many ? plan.node * 0.8 : plan.node * 0.75;
  const points = Array.from({ length: 10 }, (_, i) => {
    const r = i % 2 ? size * 0.45 : size, angle = -Math.PI / 2 + (i * Math.PI) / 5;
    return `${round(place.x + at + r * Math.cos(angle))},${round(place.y - at + r * Math.sin(angle))}`;
  });
  return shape("polygon", { class: "crown", points: points.join(" ") });
}

// label is three lines on the far side of a member, seen from the middle.
function label(s, plan, place) {
  const m = place.member;
  const notes = [m.status === "up" ? "" : m.status, m.reachable ? "" : "unreachable", m.id === s.self.id ? "this node" : "", m.roles.join(", ")];
  const lines = [[plan.names.get(m.id), "name", 16], [m.address, "faint", 13], [notes.filter(Boolean).join(" · "), "faint", 13]];
  const cos = Math.cos(place.angle), sin = Math.sin(place.angle);
  const side = Math.abs(cos) > 0.15;
  const x = side ? place.x + Math.sign(cos) * (plan.node + 14) : place.x;
  const first = side ? place.y - 12 : sin < 0 ? place.y - plan.node - 46 : place.y + plan.node + 24;
  return lines.map(([text, className, size], i) => shape("text", {
    class: className, x: round(x), y: round(first + (i === 0 ? 0 : i * 17)), "font-size": size,
    "text-anchor": side ? (cos < 0 ? "end" : "start") : "middle",
  }, cut(text, side ? (size > 15 ? 14 : 20) : 22)));
}

// rayLabel is a short label that points away from the middle.
function rayLabel(plan, place) {
  const m = place.member;
  const left = Math.cos(place.angle) < -1e-9;
  const r = plan.radius + plan.node + 12;
  const x = round(plan.x + r * Math.cos(place.angle)), y = round(plan.y + r * Math.sin(place.angle));
  const degrees = round((place.angle * 180) / Math.PI + (left ? 180 : 0));
  const note = (m.reachable ? "" : " ✕") + (m.status === "up" ? "" : ` ${cut(m.status, 9)}`);
  return [shape("text", {
    class: "name", x, y, "font-size": plan.places.size > 60 ? 12 : 13.5, "dominant-baseline": "central",
    "text-anchor": left ? "end" : "start", transform: `rotate(${degrees} ${x} ${y})`,
  }, cut(plan.names.get(m.id), 16 - note.length) + note)];
}

// singletons are a column of pills in the middle, in the order of their hosts from top to
// bottom, so that few ties cross; those that can run nowhere come first, and have no tie. Where
// not all have room, those in trouble are drawn.
function singletons(s, plan) {
  const placed = s.singletons.filter((one) => one.nowhere || plan.places.has(one.host));
  const dull = (one) => (one.nowhere || one.crashLoop ? 0 : one.why !== "" ? 1 : 2);
  const height = (one) => plan.places.get(one.host)?.y ?? -1;
  const inOrder = (a, b) => height(a) - height(b) || (a.name < b.name ? -1 : 1);
  const most = plan.many ? mostPills.many : mostPills.few;
  const wanted = [...placed].sort((a, b) => dull(a) - dull(b) || inOrder(a, b));
  const shown = (placed.length > most ? wanted.slice(0, most - 1) : wanted).sort(inOrder);
  const rest = wanted.slice(shown.length);
  const more = rest.length + s.singletonsLeftOut;
  const count = shown.length + (more ? 1 : 0), step = 31;
  const top = plan.y - ((count - 1) * step) / 2;
  const ties = shape("g", {}), pills = shape("g", {});
  shown.forEach((one, i) => {
    const place = plan.places.get(one.host), y = round(top + i * step);
    const mood = `${one.why !== "" ? " moving" : ""}${one.nowhere || one.crashLoop ? " failing" : ""}`;
    if (place) ties.append(shape("line", { class: `tie${mood}`, x1: plan.x, y1: y, x2: place.x, y2: place.y }));
    pills.append(pill(plan.x, y, one.name, said(one, place), { class: `pill${mood}`, "data-singleton": one.name, "data-host": place?.member.name ?? "" }));
  });
  if (more) pills.append(pill(plan.x, round(top + shown.length * step), `and ${more} more`, rest.map((one) => one.name).join("\n"), { class: "pill" }));
  return shape("g", {}, ties, pills);
}

function said(one, place) {
  const where = place ? `${one.here ? "runs on" : "belongs to"} ${place.member.name}` : "can run nowhere";
  return [`${one.name}: ${where}`, one.crashLoop ? "it fails again and again" : "", one.why].filter(Boolean).join("\n");
}

function pill(x, y, name, title, attributes) {
  const text = cut(name, 20), width = round(24 + [...text].length * 8.6);
  return shape("g", attributes, shape("title", {}, title),
    shape("rect", { x: round(x - width / 2), y: y - 12.5, width, height: 25, rx: 7 }),
    shape("text", { x, y, "font-size": 13 }, text));
}
