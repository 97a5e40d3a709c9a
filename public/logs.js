// Follows the logs that the page shows. Without it, the page has the last lines and is reloaded.
const lines = document.getElementById("log-lines");
const status = document.getElementById("log-status");
const pause = document.getElementById("log-pause");
// More lines than anyone scrolls back; the browser keeps no others.
const maxShown = 2000;
const maxHeld = 2000;

let source = null;
let after = lines.dataset.after;
let state = "connecting";
let isPaused = false;
let held = [];
let skipped = 0;
// What interrupted the logs may pass: the page tries again until lines or containers arrive.
const pauseMs = 10000;
let timer;

function tell() {
  const text = status.dataset[isPaused && state === "following" ? "paused" : state];
  if (status.textContent !== text) status.textContent = text;
}

function note(count) {
  const line = document.createElement("p");
  line.className = "log-note";
  line.textContent = lines.dataset.skipped.replace("{count}", count.toLocaleString(document.documentElement.lang));
  return line;
}

// Whoever reads further up stays there, also when lines above are taken away.
function show(nodes) {
  const isAtEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 24;
  for (const node of nodes) lines.append(node);
  const before = lines.scrollHeight;
  while (lines.childElementCount > maxShown) lines.firstElementChild.remove();
  if (isAtEnd) lines.scrollTop = lines.scrollHeight;
  else lines.scrollTop -= before - lines.scrollHeight;
}

// Notes stay: where lines are missing must be seen.
function hold(nodes) {
  for (const node of nodes) held.push(node);
  let surplus = held.length - maxHeld;
  if (surplus <= 0) return;
  held = held.filter((node) => {
    if (surplus <= 0 || node.className === "log-note") return true;
    surplus -= 1;
    skipped += 1;
    return false;
  });
  if (held.length > maxHeld) held.splice(0, held.length - maxHeld);
}

// A choice that somebody is making, or that is of the same containers, stays as it is.
function mayStay(present, names) {
  const [shown, listed] = [present, names].map((part) => [...part.querySelectorAll("input")].map((box) => box.value));
  return present.contains(document.activeElement) || shown.join() === listed.join();
}

function take(html) {
  const added = [];
  for (const node of [...new DOMParser().parseFromString(html, "text/html").body.children]) {
    if (node.id !== "log-end") clearEnd();
    const present = node.id === "" ? null : document.getElementById(node.id);
    if (present === null) added.push(node);
    else if (node.id === "log-names" && mayStay(present, node)) continue;
    else present.replaceWith(node);
    if (node.id === "log-end") end();
    if (node.matches("[data-again]")) beginLater();
  }
  if (isPaused) hold(added);
  else show(added);
}

function end() {
  source.close();
  state = "ended";
  pause.hidden = true;
  tell();
}

function lose() {
  const banner = document.getElementById("log-lost").content.firstElementChild.cloneNode(true);
  document.getElementById("log-end").replaceWith(banner);
  end();
}

function clearEnd() {
  const empty = document.createElement("div");
  empty.id = "log-end";
  document.getElementById("log-end").replaceWith(empty);
}

function beginLater() {
  state = "connecting";
  tell();
  timer = setTimeout(begin, pauseMs);
}

function begin() {
  clearTimeout(timer);
  const address = new URL(lines.dataset.stream, location.href);
  address.searchParams.set("after", after);
  state = "connecting";
  tell();
  source = new EventSource(address);
  pause.hidden = false;
  source.addEventListener("open", () => {
    state = "following";
    tell();
  });
  source.addEventListener("message", (event) => {
    after = event.lastEventId;
    take(event.data);
  });
  // The browser tries again by itself, unless the server refused.
  source.addEventListener("error", () => {
    if (state === "ended") return;
    if (source.readyState === EventSource.CLOSED) return lose();
    state = "connecting";
    tell();
  });
}

pause.addEventListener("click", () => {
  isPaused = !isPaused;
  pause.textContent = isPaused ? pause.dataset.follow : pause.dataset.pause;
  if (!isPaused) {
    if (skipped > 0) held.unshift(note(skipped));
    show(held);
    held = [];
    skipped = 0;
    lines.scrollTop = lines.scrollHeight;
  }
  tell();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-continue]");
  if (!link) return;
  event.preventDefault();
  clearEnd();
  begin();
});

lines.scrollTop = lines.scrollHeight;
if (document.querySelector("#log-end[data-again]")) beginLater();
else begin();
