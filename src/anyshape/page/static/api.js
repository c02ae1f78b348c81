// Asking the program that serves this page. The token came with the address, and goes into a header.

import { parse, stringify } from "./values.js";

const KEPT = "anyshape-token";

export class Refused extends Error {}

/** Take the token out of the address, so that it is neither seen nor copied; say whether there is one.
 * That of an address which a program opened is good for once, and is exchanged for the one that lasts. */
export async function admit() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token) {
    sessionStorage.setItem(KEPT, token);
    given.delete("token");
    history.replaceState(null, "", `#${given}`);
    try { sessionStorage.setItem(KEPT, (await ask("enter")).token); } catch { /* the next one is refused, too */ }
  }
  return sessionStorage.getItem(KEPT) !== null;
}

function send(path, body, signal) {
  return fetch(`/api/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-anyshape-token": sessionStorage.getItem(KEPT) ?? "" },
    body: stringify(body),
    signal,
  });
}

async function reason(response) {
  try {
    return parse(await response.text()).error;
  } catch {
    return `the page was answered with status ${response.status}`;
  }
}

/** Ask once, for one answer. */
export async function ask(path, body = {}) {
  let response;
  try {
    response = await send(path, body);
  } catch {
    throw new Refused("nobody answers: does `anyshape inspect` still run?");
  }
  if (!response.ok) {
    if (response.status === 401) sessionStorage.removeItem(KEPT);
    throw new Refused(await reason(response));
  }
  return parse(await response.text());
}

/** Ask for something that takes its time: yields what happens; aborting the signal gives it up. */
export async function* follow(path, body, signal) {
  const response = await send(path, body, signal);
  if (!response.ok) throw new Refused(await reason(response));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    // A long event comes in many pieces; they are joined once, when its end is there.
    let rest = value;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const event = parts.join("") + rest.slice(0, end);
      parts = [];
      rest = rest.slice(end + 1);
      if (event.startsWith("data: ")) yield parse(event.slice(6));
    }
    if (rest) parts.push(rest);
  }
}
