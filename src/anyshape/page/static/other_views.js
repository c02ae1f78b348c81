// Prompts and resources: filled in, asked for, and what came.

import { ask } from "./api.js";
import { contentsView, blockView } from "./content_view.js";
import { badge, el, fresh, line, prose } from "./dom.js";
import { FormView } from "./form.js";
import { RunView } from "./run_view.js";

const VARIABLE = /\{([+#./]?)(\w+)\}/g; // what else there is (RFC 6570) is written into the URI

function heading(kind, entry) {
  const name = entry.name ?? "";
  return el("header", { className: "about-tool" }, el("p", { className: "faint" }, kind), el("h1", { className: "name" }, line(name, 200)),
    entry.title && entry.title !== name ? el("p", { className: "title" }, line(entry.title, 200)) : null,
    entry.description ? prose(String(entry.description), "p", "prose") : null);
}

export function promptView(prompt, state, onState) {
  const run = new RunView(({ raw }) => [el("ol", { className: "messages" }, (raw.messages ?? []).map((message) =>
    el("li", {}, badge(line(message.role ?? "?", 40)), blockView(message.content ?? {}))))]);
  const form = new FormView({ prompt: prompt.name }, {
    value: state.arguments ?? {}, onChange: () => { state.arguments = form.value; onState(); button.disabled = !form.isJson; },
  });
  form.suggest = async (argument, value) => {
    const context = Object.fromEntries(Object.entries(form.value).filter(([name]) => name !== argument));
    return (await ask("complete", { kind: "prompt", name: prompt.name, argument, value, context })).values;
  };
  const button = el("button", { type: "button", className: "primary",
    on: { click: () => run.start("prompt", { name: prompt.name, arguments: form.value }, prompt.name) } }, "Get the prompt");
  return el("article", {}, heading("Prompt", prompt), form.element, el("div", { className: "actions" }, button), run.element);
}

export function resourceView(resource) {
  const run = new RunView(({ raw }) => (raw.contents ?? []).map((contents) => contentsView(contents)));
  const read = (uri) => run.start("read", { uri }, uri);
  const address = resource.uriTemplate === undefined ? fixedAddress(resource, read) : template(resource, read);
  return el("article", {}, heading(resource.uriTemplate === undefined ? "Resource" : "Template of resources", resource), address, run.element);
}

function fixedAddress(resource, read) {
  return el("div", {}, el("p", {}, el("code", {}, line(resource.uri, 500)), resource.mimeType ? badge(line(resource.mimeType, 80)) : ""),
    el("div", { className: "actions" }, el("button", { type: "button", className: "primary", on: { click: () => read(resource.uri) } }, "Read")));
}

function template(resource, read) {
  const id = fresh("uri");
  const uri = el("input", { id, type: "text", value: resource.uriTemplate, spellcheck: false, autocomplete: "off" });
  const names = [...resource.uriTemplate.matchAll(VARIABLE)].map(([, , name]) => name);
  const inputs = new Map();
  const expand = () => {
    uri.value = resource.uriTemplate.replace(VARIABLE, (whole, operator, name) => {
      const given = inputs.get(name)?.value;
      if (!given) return whole;
      const isAny = operator === "+" || operator === "#"; // may hold what has a meaning in URIs
      return operator.replace("+", "") + (isAny ? encodeURI(given) : encodeURIComponent(given));
    });
  };
  const rows = names.map((name) => {
    const list = el("datalist", { id: fresh("list") });
    const input = el("input", { id: fresh("variable"), type: "text", list: list.id, autocomplete: "off", on: { input: () => { expand(); look(); }, focus: () => look() } });
    const look = async () => {
      const others = [...inputs].filter(([other, each]) => other !== name && each.value);
      const context = Object.fromEntries(others.map(([other, each]) => [other, each.value]));
      const { values } = await ask("complete", { kind: "template", name: resource.uriTemplate, argument: name, value: input.value, context });
      list.replaceChildren(...values.map((value) => el("option", { value: line(value) })));
    };
    inputs.set(name, input);
    return el("div", { className: "field" }, el("div", { className: "head" }, el("label", { className: "label", htmlFor: input.id }, line(name, 80))), el("div", { className: "control" }, input, list));
  });
  return el("div", { className: "fields narrow" }, rows,
    el("div", { className: "field" }, el("div", { className: "head" }, el("label", { className: "label", htmlFor: id }, "URI")), el("div", { className: "control" }, uri)),
    el("div", { className: "actions" }, el("button", { type: "button", className: "primary", on: { click: () => read(uri.value) } }, "Read")));
}

export function rejectedView(name, reason) {
  return el("article", {}, el("header", { className: "about-tool" }, el("p", { className: "faint" }, "Refused"), el("h1", { className: "name" }, line(name, 200))),
    el("div", { className: "failure" }, badge("cannot be used", "bad"), prose(reason)));
}
