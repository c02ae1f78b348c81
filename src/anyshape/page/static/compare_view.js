// What becomes of a tool out there: clients of each age, and models of each provider, side by side.

import { ask } from "./api.js";
import { contentView } from "./content_view.js";
import { badge, el, line, plural } from "./dom.js";
import { failure } from "./run_view.js";
import { schemaView } from "./schema_view.js";

const TONES = { "as is": "good", lowered: "warn", refused: "bad" };

export function compareView(name, argumentsNow) {
  return el("div", { className: "compare" },
    section("Clients of each revision", revisionsView(name, argumentsNow)),
    section("Models of each provider", providersView(name)));
}

function section(title, body) {
  return el("section", { "aria-label": title }, el("h2", {}, title), body);
}

/** Show `place` busy until the answer is there, then what `show` makes of it. */
function load(place, path, body, show) {
  place.setAttribute("aria-busy", "true");
  place.classList.add("busy");
  return ask(path, body).then(show, (error) => place.replaceChildren(failure(error.message)))
    .finally(() => { place.removeAttribute("aria-busy"); place.classList.remove("busy"); });
}

function revisionsView(name, argumentsNow) {
  const cards = el("div", { className: "columns" }, el("p", { className: "faint" }, "Asking as a client of each revision …"));
  const show = (groups) => cards.replaceChildren(...groups.map(revisionCard));
  const call = el("button", { type: "button",
    on: { click: () => load(cards, "revisions", { name, arguments: argumentsNow() }, show) } }, "Call it once per revision");
  load(cards, "revisions", { name, arguments: null }, show);
  return el("div", {}, el("p", { className: "actions" }, call, el("span", { className: "faint" }, "with the arguments of the form")), cards);
}

function revisionCard({ revisions, output, tool, result, error }) {
  const titles = revisions.map(({ revision, answered }) =>
    el("li", {}, revision, answered && answered !== revision ? ` → ${answered}` : ""));
  const tone = { natural: "good", "text only": "warn", "not served": "bad" }[output] ?? "";
  return el("section", { className: "card revision" },
    el("ul", { className: "revisions" }, titles), el("p", {}, badge(output, tone)),
    error ? failure(error) : null,
    tool ? [el("h3", {}, "outputSchema"), tool.outputSchema === undefined ? absent() : schemaView(tool.outputSchema)] : null,
    result ? resultParts(result) : null,
    tool ? el("details", {}, el("summary", {}, "inputSchema"), schemaView(tool.inputSchema)) : null);
}

function resultParts(result) {
  return [
    el("h3", {}, "structuredContent"),
    Object.hasOwn(result, "structuredContent") ? schemaView(result.structuredContent) : absent(),
    el("h3", {}, "content"), contentView(result.content ?? []),
    result.isError ? el("p", {}, badge("isError", "bad")) : null,
  ];
}

function absent() {
  return el("p", { className: "faint" }, "absent");
}

function providersView(name) {
  const place = el("div", {}, el("p", { className: "faint" }, "Lowering for each provider …"));
  load(place, "providers", { name }, (found) => {
    const detail = el("div", { className: "columns", "aria-live": "polite" });
    const rows = found.map((each) => el("button", { type: "button", className: "provider", on: { click: () => choose(each) } },
      el("span", { className: "name" }, each.profile), badge(each.outcome, TONES[each.outcome]),
      each.losses.length ? badge(`${plural(each.losses.length, "loss").replace("losss", "losses")}`, "warn") : ""));
    const choose = (chosen) => {
      found.forEach((each, index) => rows[index].setAttribute("aria-pressed", String(each === chosen)));
      detail.replaceChildren(...providerParts(chosen));
    };
    ask("tool", { name }).then(({ entry }) => {
      for (const each of found) each.original = entry.inputSchema;
      place.replaceChildren(el("div", { className: "providers", role: "group", "aria-label": "Providers" }, rows), detail);
      choose(found.find((each) => each.losses.length) ?? found[0]);
    });
  });
  return place;
}

function providerParts({ profile, outcome, why, violations, losses, document, original }) {
  const marks = new Map();
  for (const loss of losses) {
    const place = nearest(original, loss.path, loss.keyword);
    const words = place.endsWith(`/${loss.keyword}`) ? "lost" : `lost: ${line(loss.words, 120)}`;
    marks.set(place, [...(marks.get(place) ?? []), `${words} (${loss.effect})`]);
  }
  const said = [
    why ? failure(why) : null,
    violations.length ? el("details", {}, el("summary", {}, `${plural(violations.length, "rule")} of ${profile} that it breaks as it is`),
      el("ul", {}, violations.map((each) => el("li", {}, el("code", {}, line(each.path || "/", 80)), " ", line(each.message, 400))))) : null,
    losses.length ? el("ul", { className: "losses" }, losses.map((loss) =>
      el("li", {}, el("code", {}, line(loss.path || "/", 80)), " ", line(loss.words, 300), " ", badge(loss.effect, loss.effect === "wider" ? "" : "warn")))) : null,
  ];
  return [
    el("section", { className: "card" }, el("h3", {}, "As the author wrote it", losses.length ? ", what is lost marked" : ""), schemaView(original, marks)),
    el("section", { className: "card" }, el("h3", {}, outcome === "as is" ? `${profile} takes it as it is` : `What ${profile} is sent`),
      said, document ? schemaView(document) : null),
  ];
}

/** Return the place to mark: the keyword itself where it is, else what is nearest around it. */
function nearest(document, path, keyword) {
  const there = `${path}/${keyword}`;
  return reaches(document, there) ? there : reaches(document, path) ? path : "";
}

function reaches(document, pointer) {
  let value = document;
  for (const token of pointer.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  return true;
}
