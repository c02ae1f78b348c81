// One tool: what it says of itself, calling it, what others see of it, its schemas.

import { ask } from "./api.js";
import { compareView } from "./compare_view.js";
import { contentView } from "./content_view.js";
import { badge, el, line, prose, tabs } from "./dom.js";
import { FormView } from "./form.js";
import { failure, RunView } from "./run_view.js";
import { schemaView } from "./schema_view.js";
import { stringify } from "./values.js";
import { valueView } from "./value_view.js";

const HINTS = { readOnlyHint: ["read-only", "good"], destructiveHint: ["destructive", "warn"], idempotentHint: ["idempotent", ""], openWorldHint: ["open world", ""] };

/** Return the element of a tool; `state` holds tab, arguments and choices, and is kept up to date. */
export function toolView(tool, state, onState) {
  const title = tool.title && tool.title !== tool.name ? el("p", { className: "title" }, line(tool.title, 200)) : null;
  const head = el("header", { className: "about-tool" },
    el("h1", { className: "name" }, line(tool.name, 200)), title,
    tool.description ? prose(tool.description, "p", "prose") : null,
    el("p", { className: "signature" }, el("code", {}, line(tool.type, 2000))),
    el("p", { className: "badges" },
      Object.entries(HINTS).map(([name, [text, tone]]) => (tool.annotations?.[name] === true ? badge(text, tone, name) : null)),
      badge(`${tool.cost} to check`, tool.cost === "cheap" ? "good" : "warn"),
      badge(`about ${stringify(tool.tokens)} tokens`, "", `${stringify(tool.bytes)} bytes in a listing`)));
  const form = new FormView({ tool: tool.name }, {
    value: state.arguments ?? {}, choices: state.choices ?? {}, isTouched: state.arguments !== undefined,
    onChange: () => { state.arguments = form.value; state.choices = form.choices; onState(); callView.refresh(); },
  });
  const callView = calling(tool, form);
  const panels = tabs("Views of this tool", [
    { id: "call", title: "Call", show: () => callView.element },
    { id: "compare", title: "Side by side", show: () => compareView(tool.name, () => form.value) },
    { id: "schema", title: "Schemas", show: () => detailView(tool.name) },
  ], state.tab, (tab) => { state.tab = tab; onState(true); });
  return el("article", {}, head, panels);
}

function calling(tool, form) {
  const run = new RunView(resultView);
  const button = el("button", { type: "button", className: "primary", on: { click: () => start() } }, "Call");
  const start = () => run.start("call", { name: tool.name, arguments: form.value }, tool.name);
  const element = el("div", { className: "calling", on: { keydown: (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !button.disabled) start();
  } } }, form.element, el("div", { className: "actions" }, button, el("span", { className: "faint keys" }, "Ctrl + Enter")), run.element);
  return {
    element,
    refresh() {
      button.disabled = !form.isJson;
      button.textContent = form.isRight || !form.isJson ? "Call" : "Call anyway";
    },
  };
}

export function resultView(result) {
  const took = badge(`${(Number(stringify(result.seconds)) * 1000).toFixed(0)} ms`);
  const parts = [];
  if (result.isError) parts.push(el("p", {}, badge("the tool failed", "bad"), took));
  else parts.push(el("p", {}, badge("done", "good"), took));
  if (result.hasValue) parts.push(el("h2", {}, "Value"), valueView(result.value));
  const blocks = result.raw.content ?? [];
  if (blocks.length) parts.push(el("h2", {}, "Content"), contentView(blocks));
  if (!result.hasValue && !blocks.length) parts.push(el("p", { className: "faint" }, "It said nothing."));
  return parts;
}

function detailView(name) {
  const element = el("div", { className: "details", "aria-busy": "true" }, el("p", { className: "faint" }, "Looking …"));
  ask("tool", { name }).then((found) => {
    const { entry, advice, cost } = found;
    element.replaceChildren(
      advice.length ? el("section", {}, el("h2", {}, "Advice"), el("ul", { className: "advice" }, advice.map((text) => el("li", {}, line(text, 600))))) : "",
      el("div", { className: "columns" },
        schemaCard("inputSchema", entry.inputSchema, cost.input),
        entry.outputSchema ? schemaCard("outputSchema", entry.outputSchema, cost.output) : schemaCard("outputSchema", undefined)),
      el("details", {}, el("summary", {}, "The whole entry"), schemaView(entry)));
  }, (error) => element.replaceChildren(failure(error.message))).finally(() => element.removeAttribute("aria-busy"));
  return element;
}

function schemaCard(title, schema, cost) {
  return el("section", { className: "card" }, el("h2", {}, title),
    cost ? el("p", { className: "faint" }, line(cost, 300)) : null,
    schema === undefined ? el("p", { className: "faint" }, "None: it answers in content blocks.") : schemaView(schema));
}
