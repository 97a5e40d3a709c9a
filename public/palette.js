// Keys of signed-in pages.

// The palette: its box keeps the keyboard and points at an entry of its list. The list is the server's, entries are links and buttons.
const palette = document.getElementById("palette");
const box = palette?.querySelector("input");
// The list of an older text is not acted on: Enter then leads to the search page.
const isAnswered = () => palette.querySelector("[data-query]")?.dataset.query === box.value;
const entries = () => [...palette.querySelectorAll("[role=option]")];

function point(entry) {
  for (const each of entries()) each.ariaSelected = String(each === entry);
  entry?.scrollIntoView({ block: "nearest" });
  if (entry) box.setAttribute("aria-activedescendant", entry.id);
  else box.removeAttribute("aria-activedescendant");
}

document.addEventListener("keydown", (event) => {
  const isOurs =
    event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isOurs || !palette) return;
  event.preventDefault();
  if (palette.open) return palette.close();
  // A question that is open is answered first.
  if (document.querySelector("dialog[open]")) return;
  for (const menu of document.querySelectorAll("details[data-menu][open]")) menu.open = false;
  palette.showModal();
  box.select();
  // What can be done depends on the open page and changes with time: the answer brings it.
  document.getElementById("palette-list").replaceChildren();
  point();
  // htmx gets to the page's elements a moment after the scripts; the keys may come before.
  htmx.process(box.form);
  htmx.trigger(box.form, "palette");
});
box?.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const all = entries();
  const at = all.findIndex((each) => each.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && all.length > 0) {
    event.preventDefault();
    point(all[(Math.max(at, step < 0 ? 0 : -1) + step + all.length) % all.length]);
  } else if (event.key === "Enter" && all[at] && isAnswered()) {
    event.preventDefault();
    all[at].click();
  }
});
palette?.addEventListener("click", ({ target }) => {
  if (target.closest("[role=option]")) palette.close();
});
document.addEventListener("htmx:after:swap", (event) => {
  if (event.detail.ctx?.target?.id === "palette-list") point(entries()[0]);
});

// The others. Nothing happens while somebody types.
let waitsForPlace = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
  if (event.timeStamp < waitsForPlace) {
    waitsForPlace = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key.toLowerCase())}"]`);
    if (link) {
      event.preventDefault();
      location.assign(link.href);
    }
  } else if (event.key === "g") waitsForPlace = event.timeStamp + 1500;
  else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search")?.select();
  } else if (event.key === "?") document.querySelector("[data-dialog=shortcuts]")?.click();
});
