// Each page fades into the next one, unless its reader wants no motion. Browsers look for the rule before the page's style sheet is there,
// and report an error where it comes later. A script that the page waits for brings it in time.
const sheet = new CSSStyleSheet();
sheet.replaceSync("@media (prefers-reduced-motion: no-preference) { @view-transition { navigation: auto } }");
document.adoptedStyleSheets.push(sheet);

// What is no page of ours has no such rule. Going back, the address is not told: our pages send no referrer.
addEventListener("pageswap", ({ viewTransition, activation }) => {
  if (activation?.entry?.url?.endsWith(".json")) viewTransition?.skipTransition();
});

// Nothing fades where the style sheet takes seconds. That is no fault of the page.
addEventListener("unhandledrejection", (event) => {
  if (/already revealed/.test(event.reason?.message)) event.preventDefault();
});
