// The page: what is listed, what is chosen, and the address that says so.

import { admit, ask, follow } from "./api.js";
import { el, line, plural, say } from "./dom.js";
import { findingsView } from "./findings_view.js";
import { ListView } from "./list_view.js";
import { promptView, rejectedView, resourceView } from "./other_views.js";
import { failure } from "./run_view.js";
import { toolView } from "./tool_view.js";
import { kindOf, parse, stringify } from "./values.js";

const KINDS = ["tool", "prompt", "resource", "template", "rejected"];
const LONGEST = 8000;
const at = (id) => document.getElementById(id);
const main = at("main");
let state = {};
let written = "";

const list = new ListView(at("lists"), at("search"), (item) => open({ [item.kind]: item.key }, true));

/** Return the state that an address says. */
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const name of [...KINDS, "tab", "view"]) if (given.has(name)) found[name] = given.get(name);
  for (const name of ["arguments", "choices"]) {
    if (!given.has(name)) continue;
    try { found[name] = parse(given.get(name)); } catch { say(`The ${name} of the address are not JSON.`); }
    if (found[name] === null || (name === "choices" && kindOf(found[name]) !== "object")) delete found[name];
  }
  return found;
}

function spell() {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value === undefined || (typeof value === "object" && !Object.keys(value).length)) continue;
    said.set(name, typeof value === "string" ? value : stringify(value));
  }
  return `#${said}`;
}

/** Keep the address in step with what is shown; `isStep` makes it something to go back from. */
function note(isStep = false) {
  const said = spell();
  if (said.length > LONGEST || said === written) return;
  written = said;
  if (isStep) history.pushState(null, "", said);
  else history.replaceState(null, "", said);
}

function open(wanted, isStep = false) {
  state = wanted;
  const kind = KINDS.find((each) => state[each] !== undefined);
  const item = kind && list.find(kind, state[kind]);
  list.mark(item);
  closeMenu();
  if (state.view === "findings") show(findingsView((name) => open({ tool: name }, true)), "Findings");
  else if (item) show(viewOf(item), item.name);
  else if (kind) show(failure(`There is no ${kind} ${line(state[kind], 80)} on this server.`), kind);
  else show(welcome(), "");
  note(isStep);
  if (isStep) main.focus({ preventScroll: true });
}

function viewOf(item) {
  switch (item.kind) {
    case "tool": return toolView(item.entry, state, note);
    case "prompt": return promptView(item.entry, state, note);
    case "rejected": return rejectedView(item.name, item.entry);
    default: return resourceView(item.entry);
  }
}

function show(element, title) {
  main.replaceChildren(element);
  main.scrollTop = 0;
  document.title = title ? `${line(title, 60)} · anyshape inspect` : "anyshape inspect";
}

let listing = null;

function welcome() {
  const { server, tools } = listing;
  return el("article", { className: "welcome" }, el("h1", {}, line(server.title ?? server.name ?? "A server", 120)),
    server.instructions ? el("p", { className: "prose" }, line(server.instructions, 4000)) : null,
    el("p", {}, tools.length ? "Choose a tool to call it, and to see what clients of each age and models of each provider make of it." : "It lists no tools."));
}

async function connect(anew = false) {
  document.body.setAttribute("aria-busy", "true");
  try {
    listing = await ask("listing", { anew });
  } catch (error) {
    show(el("article", {}, failure(error.message), el("button", { type: "button", on: { click: () => connect(true) } }, "Try again")), "");
    return;
  } finally {
    document.body.removeAttribute("aria-busy");
  }
  showListing();
  const { tools, rejected, gaps } = listing;
  if (gaps.length) say(line(gaps.join("; "), 300));
  if (anew) say(`Connected again: ${plural(tools.length, "tool")}, ${Object.keys(rejected).length} refused.`);
  open(read());
  watch();
}

function showListing() {
  const { server, revision, target, tools } = listing;
  at("server").textContent = line(server.title ?? server.name ?? "a server", 80);
  at("facts").textContent = [server.version && line(server.version, 30), `revision ${revision}`, line(target, 80), plural(tools.length, "tool")].filter(Boolean).join(" · ");
  list.fill(listing);
}

let watching = null;
let settling = 0;

/** Hear from the server when it lists other things, for as long as this page is open. */
async function watch() {
  watching?.abort();
  const own = (watching = new AbortController());
  try {
    for await (const event of follow("changes", {}, own.signal)) {
      if (!event.changed) continue;
      clearTimeout(settling); // several changes often come at once
      settling = setTimeout(listAgain, 150);
    }
  } catch { /* who goes on will be told by the next answer that nobody is there */ }
}

/** Show what is listed by now; what is open stays as it is, unless it has changed itself. */
async function listAgain() {
  const known = stringify(listing);
  try { listing = await ask("listing"); } catch { return; }
  if (stringify(listing) === known) return;
  const before = list.chosen;
  showListing();
  const item = before && list.find(before.kind, before.key);
  if (before && stringify(before.entry) !== stringify(item?.entry)) open(state);
  else list.mark(item);
  say(`The server lists other things now: ${plural(listing.tools.length, "tool")}.`);
}

function askForAddress() {
  const input = el("input", { id: "address", type: "text", placeholder: "http://127.0.0.1:…/#token=…", autocomplete: "off" });
  const use = () => {
    const token = /[#&]token=([\w-]+)/.exec(input.value)?.[1];
    if (!token) return say("That is not the printed address: it has a token in it.");
    history.replaceState(null, "", `${spellWith(token)}`);
    return begin();
  };
  show(el("article", { className: "welcome" }, el("h1", {}, "This page needs its token"),
    el("p", {}, "Open the address that ", el("code", {}, "anyshape inspect"), " printed, or paste it here."),
    el("div", { className: "fields narrow" }, el("label", { htmlFor: "address", className: "label" }, "Address"), input),
    el("div", { className: "actions" }, el("button", { type: "button", className: "primary", on: { click: use } }, "Open"))), "");
  input.focus();
}

function spellWith(token) {
  const said = new URLSearchParams(location.hash.slice(1));
  said.set("token", token);
  return `#${said}`;
}

function closeMenu() {
  document.body.classList.remove("listing");
  at("menu").setAttribute("aria-expanded", "false");
}

at("menu").addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("listing");
  at("menu").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) at("search").focus();
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
at("findings").addEventListener("click", () => listing && open({ view: "findings" }, true));
at("anew").addEventListener("click", () => connect(true));
at("link").addEventListener("click", async () => {
  // Without the token: whoever opens it runs their own page.
  const address = `${location.origin}/${spell()}`;
  try {
    await navigator.clipboard.writeText(address);
    say("Copied. Whoever opens it needs `anyshape inspect` on the same port, and its token.");
  } catch {
    prompt("The address of what is shown:", address);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input,textarea,select")) { event.preventDefault(); at("search").focus(); }
  if (event.key === "Escape") closeMenu();
});
document.addEventListener("visibilitychange", () => {
  // A browser has few connections to one place, and a page that nobody sees needs none.
  if (document.hidden) watching?.abort();
  else if (listing) { watch(); listAgain(); }
});
window.addEventListener("popstate", async () => {
  if (await admit() && listing && location.hash !== written) { written = location.hash; open(read()); }
});

async function begin() {
  if (await admit()) connect(); else askForAddress();
}

begin();
