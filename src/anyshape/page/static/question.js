// What a server asks while it works, in a dialog, one thing after another: a form, an address to visit,
// what a model would say, or which directories there are.

import { ask } from "./api.js";
import { blockView } from "./content_view.js";
import { badge, el, line, prose, say } from "./dom.js";
import { FormView } from "./form.js";
import { stringify } from "./values.js";

const TITLES = { user: "The server asks you", model: "The server asks a model", roots: "The server asks for roots" };
const waiting = [];

export function askUser(question) {
  waiting.push(question);
  if (waiting.length === 1) show(question);
}

/** Forget a question: it was answered, or nobody waits for the answer any more. */
export function dropQuestion(id) {
  const at = waiting.findIndex((question) => question.id === id);
  if (at < 0) return;
  waiting.splice(at, 1);
  if (at > 0) return;
  if (waiting.length) show(waiting[0]);
  else document.getElementById("question").close();
}

function show(question) {
  const dialog = document.getElementById("question");
  const form = question.url ? null : new FormView({ question: question.id }, { value: question.defaults ?? {}, label: "Answer",
    onChange: () => { send.textContent = form.isRight ? "Send" : "Send anyway"; send.disabled = !form.isJson; } });
  const reply = async (action) => {
    const content = action === "accept" && form ? form.value : null;
    try {
      await ask("answer", { question: question.id, action, content });
      dropQuestion(question.id);
    } catch (error) {
      say(error.message);
    }
  };
  const send = el("button", { type: "button", className: "primary", on: { click: () => reply("accept") } }, question.url ? "I visited it" : "Send");
  dialog.oncancel = (event) => { event.preventDefault(); reply("cancel"); };
  dialog.replaceChildren(
    el("h2", { id: "question-title" }, TITLES[question.of] ?? TITLES.user),
    el("p", { className: "faint" }, line(question.server, 120)),
    prose(question.message, "p", "prose"),
    question.asked ? talk(question.asked) : "",
    question.url ? visit(question.url) : form.element,
    el("div", { className: "actions" }, send,
      el("button", { type: "button", on: { click: () => reply("decline") } }, "Decline"),
      el("button", { type: "button", on: { click: () => reply("cancel") } }, "Cancel")));
  if (!dialog.open) dialog.showModal();
  form?.ready.then(() => form.fields.querySelector("input,select,textarea,button")?.focus());
}

/** Show what a model would be given to read. */
function talk({ systemPrompt, messages, maxTokens }) {
  const said = (role, content) => el("li", {}, badge(line(role, 40)), [content].flat().map((block) => blockView(block ?? {})));
  return el("div", {}, el("p", { className: "faint" }, `at most ${line(stringify(maxTokens), 20)} tokens`),
    el("ol", { className: "messages" },
      typeof systemPrompt === "string" ? said("system", { type: "text", text: systemPrompt }) : null,
      (messages ?? []).map((message) => said(message?.role ?? "?", message?.content))));
}

function visit(url) {
  let hostname = "";
  try { hostname = new URL(url).hostname; } catch { return el("p", {}, el("code", {}, line(url, 2000))); }
  return el("div", {},
    el("p", {}, "It wants you to visit ", el("strong", {}, line(hostname, 200)),
      hostname.includes("xn--") ? " (its name is spelt in another script)" : "", ":"),
    el("p", {}, el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, line(url, 2000))));
}
