// What may never rest is not in the stream of events: the page asks for it every two seconds, while
// it is visible.

const pause = 2000;

export async function poll(path, show) {
  if (document.visibilityState === "visible") {
    try {
      const answer = await fetch(path);
      if (answer.ok) show(await answer.json());
    } catch {
      // the page is pale while the node does not answer
    }
  }
  setTimeout(poll, pause, path, show);
}
