// What the TypeScript clients do beside listing and calling. The plan, with a `package` beside it,
// and the report are those of python_habits.py.
import { plan, print, target } from "./report.mjs";

const isModern = plan.package === "@modelcontextprotocol/client";
const client_ = isModern ? plan.package : `${plan.package}/client/index.js`;
const stdio = isModern ? `${plan.package}/stdio` : `${plan.package}/client/stdio.js`;
const http = isModern ? plan.package : `${plan.package}/client/streamableHttp.js`;
const { Client } = await import(client_);
const { StdioClientTransport } = await import(stdio);
const { StreamableHTTPClientTransport } = await import(http);

const [command, ...args] = target.command ?? [];
const transport = () =>
  target.url
    ? new StreamableHTTPClientTransport(new URL(target.url))
    : new StdioClientTransport({ command, args });

let told = () => {};
const onChanged = () => told();
const client = new Client(
  { name: "habits", version: "0" },
  {
    ...(isModern && { versionNegotiation: { mode: plan.mode } }),
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
  },
);
const call = (name, given, options) =>
  isModern
    ? client.callTool({ name, arguments: given }, options)
    : client.callTool({ name, arguments: given }, undefined, options);
const value = async (name, given = {}) => {
  const shown = (await call(name, given)).structuredContent;
  return shown && typeof shown === "object" && "result" in shown ? shown.result : shown;
};
// A timer that nobody waits for any more must not keep the process from ending.
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000).unref());

const byTime = (tag) => call("wait", { tag }, { timeout: 300 }).catch(() => {});
const byLeaving = (tag) =>
  call("wait", { tag }, { signal: AbortSignal.timeout(300) }).catch(() => {});
const isKnown = async (giveUp) => {
  const tag = `${plan.tag} ${giveUp.name}`;
  const deadline = performance.now() + plan.moment * 1000;
  while (performance.now() < deadline) {
    await giveUp(tag);
    if ((await value("given_up")).includes(tag)) return true;
  }
  return false;
};

const change = async () => {
  const seen = [];
  for (let turn = 0; turn < 2; turn++) {
    const telling = new Promise((resolve) => (told = () => resolve(true)));
    await call("change", { name: plan.tag });
    if (!(await Promise.race([telling, pause(plan.moment).then(() => false)]))) return seen;
    const { tools } = await client.listTools();
    seen.push(tools.some((tool) => tool.name === plan.tag));
  }
  return seen;
};

const texts = ["plain", "Zürich ☃", " padded ", "=?base64?x?=", "two\nlines", ""];
const routes = [...texts.map((region) => ({ region })), { limit: -3 }, {}];

const refusals = async () => {
  const codes = {};
  for (const [name, method] of [["prompts", "prompts/list"], ["resources", "resources/list"]]) {
    const asked = { method, params: {} };
    const anything = (await import("zod")).z.any();
    await client.request(asked, anything).catch((error) => (codes[name] = error.code));
  }
  return codes;
};

const each = async (items, work) => {
  const done = [];
  for (const item of items) done.push(await work(item));
  return done;
};

await client.connect(transport());
const first = await value("zero");
await client.close();
await client.connect(transport());
await client.listTools();
const report = {
  again: [first, await value("zero")],
  gave_up: [await isKnown(byTime), await isKnown(byLeaving)],
  changes: await change(),
  crowd: await Promise.all(
    Array.from({ length: 25 }, (_, n) => value("repeat", { text: `${n}`, times: 1 })),
  ),
  long: (await value("repeat", { text: "x".repeat(1000), times: 1000 })).length,
  routed: await each(routes, (given) => value("routed", given)),
  refused: await refusals(),
};
await client.close();
print(report);
