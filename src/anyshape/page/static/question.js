// What a server asks the user while it works, in a dialog: a form, or an address to visit.

import { ask } from "./api.js";
import { el, line, prose, say } from "./dom.js";
import { FormView } from "./form.js";

let open = null;

export function askUser(question) {
  const dialog = document.getElementById("question");
  open = question.id;
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
    el("h2", { id: "question-title" }, "The server asks you"),
    el("p", { className: "faint" }, line(question.server, 120)),
    prose(question.message, "p", "prose"),
    question.url ? visit(question.url) : form.element,
    el("div", { className: "actions" }, send,
      el("button", { type: "button", on: { click: () => reply("decline") } }, "Decline"),
      el("button", { type: "button", on: { click: () => reply("cancel") } }, "Cancel")));
  if (!dialog.open) dialog.showModal();
  form?.ready.then(() => form.fields.querySelector("input,select,textarea,button")?.focus());
}

/** Close the question, if it is this one; without an id, whichever is open. */
export function dropQuestion(id = open) {
  if (open === null || id !== open) return;
  open = null;
  document.getElementById("question").close();
}

function visit(url) {
  const { hostname } = new URL(url);
  return el("div", {},
    el("p", {}, "It wants you to visit ", el("strong", {}, line(hostname, 200)),
      hostname.includes("xn--") ? " (its name is spelt in another script)" : "", ":"),
    el("p", {}, el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, line(url, 2000))));
}
