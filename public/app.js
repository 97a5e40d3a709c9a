// What htmx and plain HTML cannot do: dialogs, toasts, theme, copying, times that stay true, busy buttons.
// Everything here is an improvement of a page that works without it.
const root = document.documentElement;
const all = (selector, within = document) => within.querySelectorAll(selector);
const byId = (id) => document.getElementById(id);
const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
/** Text that stays costs no layout. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Times. The server's clock is the right one: the page brings its time, the browser only counts on from there.
const made = Number(root.dataset.now);
const now = () => made + performance.now();
let relative;
const units = [
  ["year", 31536000, 2],
  ["month", 2592000, 2],
  ["day", 86400, 1],
  ["hour", 3600, 1],
  ["minute", 60, 1],
];

function refreshTimes() {
  // Takes longer than all else that happens here while a page loads.
  relative ??= new Intl.RelativeTimeFormat(root.lang === "en" ? "en-GB" : root.lang);
  for (const time of all("time[data-relative]")) {
    const seconds = (Number(time.dataset.relative) - now()) / 1000;
    const unit = units.find(([, size, least]) => Math.abs(seconds) >= size * least);
    const within = seconds > 0 ? root.dataset.soon : root.dataset.justNow;
    write(time, unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : within);
  }
}

const [hour, minute, second] = (root.dataset.units ?? "").split(" ");

function refreshElapsed() {
  for (const span of all("[data-since]")) {
    const seconds = Math.max(0, Math.floor((now() - Number(span.dataset.since)) / 1000));
    const [large, small, size] = seconds < 3600 ? [minute, second, 60] : [hour, minute, 3600];
    const rest = Math.floor((seconds % size) / (size / 60));
    const long = `${Math.floor(seconds / size)} ${large}${rest ? ` ${rest} ${small}` : ""}`;
    write(span, seconds < 60 ? `${seconds} ${second}` : long);
  }
}
setInterval(refreshTimes, 15000);
setInterval(refreshElapsed, 1000);

// Toasts go after a while, but never while they are read, and never when they report a failure.
function watchToasts() {
  for (const toast of all(".toast[data-toast=goes]:not([data-watched])")) {
    toast.dataset.watched = "";
    const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, 2000) : toast.remove());
    setTimeout(leave, 7000);
  }
}

function say(text) {
  const region = byId("toasts");
  if (!region || !text || [...all("p", region)].some((p) => p.textContent === text)) return;
  const toast = make("div", { className: "toast failed" });
  toast.dataset.toast = "goes";
  toast.append(make("p", { textContent: text }));
  region.append(toast);
  watchToasts();
}

// Dialogs: the page's one, which answers fill, and those that a page brings.
function open(dialog) {
  if (!dialog || dialog.open) return;
  for (const menu of all("details[data-menu][open]")) menu.open = false;
  dialog.showModal();
  dialog.querySelector("[autofocus], :is(h1,h2)[tabindex]")?.focus();
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    // Plain http has no clipboard: the old way.
    const area = make("textarea", { value: button.dataset.copy });
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const label = button.getAttribute("aria-label");
  button.classList.add("done");
  button.setAttribute("aria-label", button.dataset.copied);
  setTimeout(() => {
    button.classList.remove("done");
    button.setAttribute("aria-label", label);
  }, 1500);
}

// Its form tells the server, which keeps the choice in a cookie.
function setTheme(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const scheme = document.querySelector("meta[name=color-scheme]");
  if (scheme) scheme.content = theme === "system" ? "light dark" : theme;
  for (const button of all("button[name=theme]")) button.setAttribute("aria-pressed", String(button.value === theme));
}

document.addEventListener("click", (event) => {
  const target = event.target;
  if (!(target instanceof Element)) return;
  for (const menu of all("details[data-menu][open]")) if (!menu.contains(target)) menu.open = false;
  const opener = target.closest("[data-dialog]");
  if (opener) open(byId(opener.dataset.dialog));
  const close = target.closest("[data-close]");
  const dialog = target.closest("dialog");
  if (dialog && (close || target === dialog)) {
    event.preventDefault();
    dialog.close();
  }
  target.closest("[data-dismiss]")?.closest(".toast")?.remove();
  const copied = target.closest("[data-copy]");
  if (copied) void copy(copied);
  const secret = target.closest("[data-reveal]")?.previousElementSibling;
  if (secret) secret.type = secret.type === "text" ? "password" : "text";
  const theme = target.closest("button[name=theme]");
  if (theme) setTheme(theme.value);
});

// Browsers do not count again what is removed. Without script the style sheet counts.
function countChosen() {
  for (const count of all(".chosen-count"))
    write(count, `${all(".choice:checked", count.closest(".choosing")).length}`);
}
// One tick for all of a group, or of a table; it shows whether all of them are ticked.
document.addEventListener("change", ({ target }) => {
  tick(target);
  countChosen();
});
function tick(target) {
  const group = target.closest?.("tbody:has([data-ticks]), table:has(thead [data-ticks])");
  const whole = group?.querySelector("[data-ticks]");
  if (!whole) return;
  const own = [...all("input.choice", group)];
  if (target === whole) for (const each of own) each.checked = whole.checked;
  else whole.checked = own.every((each) => each.checked);
  whole.indeterminate = !whole.checked && own.some((each) => each.checked);
}

// A search box over a list that is on the page already.
function find({ dataset, value }) {
  const words = value.toLowerCase().split(" ");
  for (const item of all(`${dataset.find} [data-found]`))
    item.hidden = !words.every((word) => item.dataset.found.includes(word));
  if (value) for (const fold of all(`${dataset.find} details:has([data-found]:not([hidden]))`)) fold.open = true;
}
document.addEventListener("input", ({ target }) => find(target));

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const menu = document.querySelector("details[data-menu][open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const list = event.target.dataset.find;
  if (list && event.key === "Enter") {
    event.preventDefault();
    const first = document.querySelector(`${list} [data-found]:not([hidden]) > .pick input:enabled`);
    first?.focus();
    first?.click();
  }
});

// A form is sent once: its button shows that it works and takes no second press until the answer is there. One that rows share is sent once
// by each of its buttons.
const senderOf = (form, submitter) => (form.matches("[data-shared]") ? submitter : form);
function setBusy(sender, isBusy) {
  sender.toggleAttribute("data-busy", isBusy);
  for (const button of [sender, ...all("button", sender)]) button.removeAttribute("aria-busy");
}
document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    const sender = senderOf(form, event.submitter);
    if (sender.hasAttribute("data-busy")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    // What leads to a file to save leaves the page as it is.
    if (form.method === "get" || form.hasAttribute("data-download")) return;
    setBusy(sender, true);
    event.submitter?.setAttribute("aria-busy", "true");
  },
  true,
);
addEventListener("pageshow", (event) => {
  if (event.persisted) for (const sender of all("[data-busy]")) setBusy(sender, false);
});

// The icon of the tab and of the installed application shows what needs attention, as the navigation does.
const icon = document.querySelector("link[rel=icon]");
const plainIcon = icon?.href;
let badged = "0";
function refreshBadge() {
  const count = document.querySelector("#sections li:first-child .count")?.textContent ?? "0";
  if (!icon || count === badged || document.readyState !== "complete") return;
  badged = count;
  navigator.setAppBadge?.(Number.parseInt(count, 10) || 0).catch(() => undefined);
  if (count === "0") {
    icon.href = plainIcon;
    return;
  }
  const mark = new Image(64, 64);
  mark.onload = () => {
    const canvas = make("canvas", { width: 64, height: 64 });
    const paint = canvas.getContext("2d");
    paint.drawImage(mark, 0, 0, 64, 64);
    paint.fillStyle = "#c8281c";
    paint.beginPath();
    paint.arc(42, 42, 22, 0, 2 * Math.PI);
    paint.fill();
    paint.fillStyle = "#fff";
    paint.font = "bold 28px sans-serif";
    paint.textAlign = "center";
    paint.textBaseline = "middle";
    paint.fillText(count.length > 1 ? "9+" : count, 42, 44);
    if (count === badged) icon.href = canvas.toDataURL();
  };
  mark.src = plainIcon;
}

// Once the page can be used.
addEventListener("load", () => setTimeout(refreshBadge, 500));

function settle() {
  watchToasts();
  refreshBadge();
  countChosen();
  all("[data-find]").forEach(find);
}

document.addEventListener("htmx:finally:request", (event) => {
  const form = event.target.closest?.("form");
  if (form) setBusy(senderOf(form, event.detail.ctx.request.submitter), false);
});
// A part that asks for itself leaves out a turn while a row of it is pointed at: nothing moves away under the pointer.
let waited = false;
// The row that an action was chosen in: its control may be gone afterwards, and the keyboard goes on from there.
let actedIn = null;
// What a page that is seen asks for: the rows of its list but those that somebody is acting in.
document.addEventListener("htmx:config:request", (event) => {
  const { request } = event.detail.ctx;
  request.action = request.submitter?.getAttribute("formaction") ?? request.action;
  if (!/^follow/.test(event.target.id)) return;
  if (document.hidden) return event.preventDefault();
  const rows = all("#content tr.leads[id]:not(:has([data-busy], .menu[open]))");
  request.body.append("shown", Array.from(rows, ({ id }) => id).join());
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) byId("follow-back")?.dispatchEvent(new Event("seen"));
});
document.addEventListener("htmx:before:request", (event) => {
  actedIn = event.detail.ctx.request.submitter?.closest(".leads")?.id ?? null;
  if (!event.target.matches?.("[data-calm]")) return;
  const has = (selector) => event.target.querySelector(selector) !== null;
  waited = has(".menu[open]") || (!waited && has(".row:hover"));
  if (waited) event.preventDefault();
});
document.addEventListener("htmx:after:swap", (event) => {
  for (const part of all("details:has(.field-error)")) part.open = true;
  settle();
  const target = event.detail.ctx?.target;
  if (target?.id === "dialog") open(target);
  // As if the page had been opened.
  if (target?.id === "content") {
    scrollTo(0, 0);
    target.focus();
  }
  const within = target?.isConnected ? target : document;
  within.querySelector("[data-errors]")?.focus();
  const row = actedIn && byId(actedIn);
  const menu = row?.querySelector(".menu[open]");
  if (menu) menu.open = false;
  if (actedIn === null || (!menu && (document.activeElement ?? document.body) !== document.body)) return;
  const places = [row?.querySelector(".menu > summary"), row?.querySelector("a"), document.querySelector("main")];
  places.find((place) => place?.checkVisibility())?.focus();
  actedIn = null;
});
// While the server does not respond, a line says so until it does. What loads by itself is then loaded.
const away = byId("away");
const missed = new Set();
let isUnsure = false;
let isWaiting = false;
function miss({ sourceElement, request }) {
  if (request.method !== "GET") isUnsure = true;
  else if (sourceElement?.matches?.("[hx-trigger^=load]")) missed.add(sourceElement);
  away.textContent = [away.dataset.lost, isUnsure && away.dataset.unsure].filter(Boolean).join(" ");
  if (isWaiting) return;
  isWaiting = true;
  self.untilServerResponds({ back: recover });
}
function recover() {
  isWaiting = false;
  for (const part of missed) htmx.process(part, true);
  missed.clear();
  away.textContent = [away.dataset.responds, isUnsure && away.dataset.unsure].filter(Boolean).join(" ");
  if (isUnsure) {
    away.append(" ", make("a", { href: location.href, textContent: away.dataset.reload }));
  } else
    setTimeout(() => {
      if (!isWaiting) away.textContent = "";
    }, 4000);
}
document.addEventListener("htmx:response:error", (event) => {
  const { response, text } = event.detail.ctx;
  if (self.isOfProxy(response)) miss(event.detail.ctx);
  else if (response.status !== 422 && !text?.includes("<hx-partial")) say(root.dataset.refused);
});
// What was entered is not left for the sign-in.
document.addEventListener("htmx:before:response", ({ detail: { ctx } }) => {
  if (ctx.response.status === 401) delete ctx.hx.redirect;
});
// A page may outlast its session: its forms are then sent in the one that came after it.
document.addEventListener("signed-in", ({ detail }) => {
  for (const token of all("[name=csrf_token]")) token.value = detail.value;
});
document.addEventListener("htmx:error", (event) => {
  if (event.detail.ctx) miss(event.detail.ctx);
});
// A live part whose stream has been silent for longer than its server ever is asks by itself.
const heard = new WeakMap();
for (const name of ["htmx:sse:after:connection", "htmx:sse:after:message"]) {
  document.addEventListener(name, (event) => heard.set(event.target, now()));
}
setInterval(() => {
  for (const live of all("[data-poll]")) {
    if (!heard.has(live)) heard.set(live, now());
    if (document.hidden || now() - heard.get(live) < 25000) continue;
    htmx.ajax("GET", live.dataset.poll, { target: live, swap: "none" });
  }
}, 5000);

// The link to the page above leads to what was last seen of it in this tab: filtered and sorted.
const above = document.querySelector("a.parent");
if (above) above.search ||= sessionStorage.getItem(above.pathname) ?? "";
addEventListener("pagehide", () => sessionStorage.setItem(location.pathname, location.search));

settle();
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest" });
// Errors come before fields; a form that more follows is read first. Typing where a choice is made would change it.
const fields = [...all(".form:not(:has(~ section)) :is(input:enabled:not([type=hidden]), select, textarea)")];
const isChosen = ({ type, checked, value, form }) =>
  type === "radio" ? !checked && form.querySelector("[type=radio]:checked") : type === "select-one" && value;
const first = fields.find((field) => !isChosen(field)) ?? fields[0];
// A page is read from its top: what is further down, or behind a phone's navigation, is not scrolled to.
const isSeen = first?.getBoundingClientRect().bottom < innerHeight - 60;
(document.querySelector("[data-errors]") ?? (isSeen ? first : null))?.focus();
