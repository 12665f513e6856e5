// What has changed between two snapshots, in sentences, newest first.

const most = 100;

export function showChanges(before, after) {
  if (before === null) return;
  const list = document.getElementById("changes");
  for (const text of changes(before, after)) {
    const item = document.createElement("li");
    const time = document.createElement("time");
    time.dateTime = after.time;
    time.textContent = new Date(after.time).toLocaleTimeString();
    item.append(time, text);
    list.prepend(item);
  }
  while (list.childElementCount > most) list.lastElementChild.remove();
  document.getElementById("no-changes").hidden = list.childElementCount > 0;
}

function changes(before, after) {
  return [...ofMembers(before, after), ...ofLeader(before, after), ...ofSingletons(before, after)];
}

function ofMembers(before, after) {
  const was = new Map(before.members.map((m) => [m.id, m]));
  const found = [];
  for (const m of after.members) {
    const old = was.get(m.id);
    was.delete(m.id);
    if (!old || old.status !== m.status) found.push(`${m.name} is ${m.status}`);
    if (old && old.reachable && !m.reachable) found.push(`${m.name} is unreachable`);
    if (old && !old.reachable && m.reachable) found.push(`${m.name} is reachable again`);
  }
  for (const gone of was.values()) found.push(`${gone.name} is removed`);
  return found;
}

function ofLeader(before, after) {
  if (before.leader === after.leader) return [];
  const leader = after.members.find((m) => m.id === after.leader);
  return [leader ? `${leader.name} leads` : "nobody leads"];
}

function ofSingletons(before, after) {
  const was = new Map(before.singletons.map((s) => [s.name, s]));
  const found = [];
  for (const s of after.singletons) {
    const old = was.get(s.name);
    if (old && old.leaseHeld !== s.leaseHeld) found.push(s.leaseHeld ? `this node holds the lease of ${s.name}` : `this node does not hold the lease of ${s.name} any more`);
    if (s.crashLoop && !(old && old.crashLoop)) found.push(`${s.name} fails again and again`);
    if (s.nowhere && !(old && old.nowhere)) found.push(`${s.name} can run nowhere`);
    if (s.phase === "ended" && old && old.phase !== "ended") found.push(`${s.name} has finished for good`);
    if (old && old.host === s.host && old.here === s.here && old.phase === s.phase) continue;
    const host = after.members.find((m) => m.id === s.host);
    if (s.here && !(old && old.here)) found.push(`${s.name} runs here, as ${s.generation}`);
    else if (old && old.here && !s.here) found.push(`${s.name} does not run here any more`);
    else if (host && !(old && old.host === s.host)) found.push(`${s.name} is to run on ${host.name}`);
    else if (!host && old && old.host) found.push(`${s.name} has no host`);
  }
  return found;
}
