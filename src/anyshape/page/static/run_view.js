// Something that takes its time: started, followed, given up, and what came of it.

import { follow } from "./api.js";
import { badge, el, line, plural, prose } from "./dom.js";
import { askUser, dropQuestion } from "./question.js";
import { parse, pretty, stringify } from "./values.js";

const MOST_LOGS = 500;

export class RunView {
  /** `show` makes the elements of a result. */
  constructor(show) {
    this.show = show;
    this.element = el("section", { className: "run", "aria-label": "What came of it", "aria-live": "polite" });
    this.running = null;
  }

  async start(path, body, title) {
    this.stop();
    const running = (this.running = new AbortController());
    const began = performance.now();
    const bar = el("progress", { "aria-label": "Progress" });
    const note = el("span", { className: "note" }, "Waiting for the server …");
    const cancel = el("button", { type: "button", className: "cancel", on: { click: () => running.abort() } }, "Cancel");
    const logs = el("ul", { className: "logs" });
    const frames = framesView();
    const outcome = el("div", { className: "outcome" });
    const doing = el("div", { className: "doing" }, bar, note, cancel);
    this.element.replaceChildren(doing, outcome, logs, frames.element);
    let isOver = false;
    const end = (...nodes) => { isOver = true; doing.remove(); outcome.replaceChildren(...nodes); };
    const asked = new Set();
    try {
      for await (const event of follow(path, body, running.signal)) {
        if (event.progress) tell(event.progress, bar, note);
        if (event.log) logs.append(logView(event.log));
        while (logs.childElementCount > MOST_LOGS) logs.firstChild.remove();
        if (event.frame) frames.add(event.frame);
        if (event.question) { asked.add(event.question.id); askUser(event.question); }
        if (event.answered) dropQuestion(event.answered);
        if (event.error !== undefined) end(failure(event.error));
        if (event.result) end(...this.show(event.result));
      }
      if (!isOver) end(failure("the answer broke off"));
    } catch (error) {
      const took = ((performance.now() - began) / 1000).toFixed(1);
      if (running.signal.aborted) end(el("p", { className: "cancelled" }, badge("cancelled"), ` ${line(title, 80)}, after ${took} s`));
      else end(failure(error.message));
    } finally {
      if (this.running === running) this.running = null;
      for (const id of asked) dropQuestion(id);
    }
  }

  stop() {
    this.running?.abort();
  }
}

export function failure(message) {
  return el("div", { className: "failure", role: "alert" }, badge("failed", "bad"), prose(String(message)));
}

function tell({ progress, total, message }, bar, note) {
  if (total !== null && total !== undefined) {
    bar.max = Number(stringify(total)) || 1;
    bar.value = Math.min(Number(stringify(progress)), bar.max);
  }
  const count = total === null || total === undefined ? stringify(progress) : `${stringify(progress)} of ${stringify(total)}`;
  note.textContent = message ? `${count} · ${line(message)}` : count;
}

function logView({ level, logger, data }) {
  return el("li", {}, badge(line(level, 20)), logger ? `${line(logger, 60)}: ` : "", line(typeof data === "string" ? data : stringify(data), 500));
}

function framesView() {
  const list = el("ol", { className: "frames" });
  const summary = el("summary", {}, "Frames");
  const element = el("details", { className: "wire", hidden: true }, summary, list);
  let count = 0;
  const pending = [];
  const flush = () => {
    if (!element.open) return;
    for (const frame of pending.splice(0)) list.append(frameView(frame));
  };
  element.addEventListener("toggle", flush);
  return {
    element,
    add(frame) {
      count += 1;
      element.hidden = false;
      summary.textContent = plural(count, "frame");
      pending.push(frame);
      if (pending.length > 500) pending.shift();
      flush();
    },
  };
}

function frameView({ direction, text, bytes }) {
  let shown = text;
  try { shown = pretty(parse(text)); } catch { /* cut, or no JSON: as it is */ }
  return el("li", { className: direction }, el("p", { className: "faint" }, direction === "sent" ? "→ sent" : "← received", `, ${plural(bytes, "byte")}`),
    prose(shown, "pre", "code"));
}
