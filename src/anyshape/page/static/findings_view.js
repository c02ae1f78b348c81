// Everything that `anyshape check` says about the server's tools.

import { ask } from "./api.js";
import { badge, el, line, visible } from "./dom.js";
import { failure } from "./run_view.js";
import { stringify } from "./values.js";

const TONES = { "as is": "good", lowered: "warn", refused: "bad" };

export function findingsView(onTool) {
  const element = el("article", { className: "findings" }, el("h1", {}, "Findings"),
    el("p", { className: "faint" }, "Asking as clients of every age, and lowering for every provider …"));
  element.setAttribute("aria-busy", "true");
  ask("findings").then((found) => element.replaceChildren(...parts(found, onTool)),
    (error) => element.append(failure(error.message))).finally(() => element.removeAttribute("aria-busy"));
  return element;
}

function parts({ pins, reviews, refused, suspect, bytes, tokens, gaps, answered }, onTool) {
  return [
    el("h1", {}, "Findings"),
    el("p", { className: "badges" }, badge(`${reviews.length.toLocaleString("en")} checked`),
      badge(refused ? `${refused} refused` : "none refused", refused ? "bad" : "good"),
      suspect ? badge(`${suspect} suspect`, "bad") : "",
      badge(`${bytes.toLocaleString("en")} bytes listed`), badge(`about ${tokens.toLocaleString("en")} tokens`)),
    gaps.length || Object.keys(answered).length ? el("ul", { className: "gaps" },
      Object.entries(answered).map(([asked, chosen]) => el("li", {}, `clients of ${asked} are answered with ${chosen}`)),
      gaps.map((gap) => el("li", {}, line(gap, 400)))) : "",
    pins ? pinsCard(pins) : "",
    el("div", { className: "reviews" }, reviews.map((review) => reviewCard(review, onTool))),
  ];
}

function pinsCard({ upstream, same, changed, unknown, missing }) {
  const listed = (things, tone, word) => things.map(({ kind, name, changes }) =>
    el("li", {}, badge(word, tone), ` ${kind} `, el("code", {}, line(name, 120)),
      changes ? el("ul", {}, changes.map(({ where, lines }) =>
        el("li", {}, el("code", {}, line(where || "/", 200)), el("pre", { className: "code" }, visible(lines.join("\n")))))) : null));
  return el("section", { className: "card pins" }, el("h2", {}, "Pins of ", el("code", {}, line(upstream, 80))),
    same ? el("p", {}, badge("as it was pinned", "good")) : el("ul", { className: "hidden-things" },
      listed(changed, "bad", "changed"), listed(unknown, "warn", "new"), listed(missing, "warn", "gone")));
}

function reviewCard(review, onTool) {
  const isTool = Object.keys(review.cost).length > 0; // what else hides something has no cost
  const outcomes = Object.entries(review.providers ?? {});
  return el("section", { className: "card review" },
    el("h2", {}, !isTool ? line(review.name, 120) : el("button", { type: "button", className: "link", on: { click: () => onTool(review.name) } }, line(review.name, 120)),
      review.refused ? badge("refused", "bad") : ""),
    review.refused ? el("p", {}, line(review.refused, 600)) : null,
    isTool ? el("p", { className: "faint" },
      `${costs(review.cost)} · ${stringify(review.tokens)} tokens · ${carried(review.olderClients)}`) : null,
    review.findings.length ? el("ul", { className: "hidden-things" }, review.findings.map((finding) =>
      el("li", {}, badge(finding.severity, finding.severity === "high" ? "bad" : "warn"), ` ${findingText(finding)}`))) : null,
    review.advice.length ? el("ul", { className: "advice" }, review.advice.map((text) => el("li", {}, line(text, 600)))) : null,
    outcomes.length ? el("p", { className: "badges" }, outcomes.map(([profile, { outcome, why, losses }]) =>
      badge(`${profile}${losses.length ? ` −${losses.length}` : ""}`, TONES[outcome], why ?? `${outcome}${losses.length ? `, ${losses.map((loss) => loss.words).join("; ").slice(0, 400)}` : ""}`))) : null);
}

function findingText({ code, where, message }) {
  return `${code} at ${line(where || "/", 120)}: ${line(message, 600)}`;
}

function costs(cost) {
  const said = new Set(Object.values(cost));
  return said.size === 1 ? `${[...said][0]} to check` : Object.entries(cost).map(([name, verdict]) => `${name} ${verdict}`).join(", ");
}

const CARRIED = { natural: "as it is", object: "as an object", wrapped: "wrapped", absent: "as text", none: "as content" };

function carried(older) {
  const said = new Map();
  for (const [revision, how] of Object.entries(older)) {
    const words = CARRIED[how] ?? how;
    said.set(words, [...(said.get(words) ?? []), revision]);
  }
  return [...said].map(([how, revisions]) => `${revisions.join(", ")} ${line(how, 200)}`).join("; ");
}
