// What an operator can do when a node without a cluster waits for nodes that are lost: promise
// that they are, by a form that is there only where the handler has actions.

const promise = (addresses) => `The others found a cluster without ${addresses.join(", ")}.

You promise that these nodes do not run, and will not be started until the cluster has formed. Otherwise there may be two clusters.`;

export function showAbsent(snapshot) {
  const section = document.getElementById("waiting");
  const before = section.querySelector("form");
  const absent = snapshot.actions ? snapshot.absent : [];
  if (before && before.dataset.absent === absent.join(" ")) return; // its ticks stay
  before?.remove();
  if (absent.length > 0) section.append(form(absent));
}

function form(absent) {
  const form = document.createElement("form");
  form.id = "founding";
  form.dataset.absent = absent.join(" ");
  const title = document.createElement("p");
  title.textContent = "There is no answer of these nodes. Tick those that are stopped and will not come back:";
  const button = document.createElement("button");
  button.textContent = "Found a cluster without them";
  button.disabled = true;
  const result = document.createElement("output");
  form.append(title, ...absent.map(box), button, result);
  const ticked = () => [...form.querySelectorAll("input:checked")].map((input) => input.value);
  form.addEventListener("change", () => { button.disabled = ticked().length === 0; });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const addresses = ticked();
    if (addresses.length > 0 && confirm(promise(addresses))) foundWithout(addresses, result);
  });
  return form;
}

function box(address) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "checkbox";
  input.value = address;
  label.append(input, address);
  return label;
}

async function foundWithout(addresses, result) {
  const query = addresses.map((address) => `address=${encodeURIComponent(address)}`).join("&");
  try {
    const answer = await fetch(`actions/found-without?${query}`, { method: "POST", headers: { "Understudy-Action": "1" } });
    result.textContent = answer.ok ? "The node tells the others." : await answer.text();
  } catch (error) {
    result.textContent = `The node does not answer: ${error.message}`;
  }
}
