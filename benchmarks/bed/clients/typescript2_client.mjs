// TypeScript SDK 2.x client: lists once, checks results on every call. In memory it talks to an
// McpServer of the same SDK at 2025-11-25, the only way its in-memory transport connects.
import { createInterface } from "node:readline";
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { data } from "../servers/shop.mjs";
import { make } from "../servers/typescript2_shop.mjs";

const target = process.argv[2];
const connect = async () => {
  if (target === "memory") {
    const client = new Client({ name: "bed", version: "1.0.0" });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await make().connect(far);
    await client.connect(near);
    return client;
  }
  const versionNegotiation = { mode: { pin: "2026-07-28" } };
  const client = new Client({ name: "bed", version: "1.0.0" }, { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(target)));
  return client;
};

const client = await connect();
await client.listTools();
const unwrap = (value) => {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return keys.length === 1 && keys[0] === "result" ? value.result : value;
};
const call = async (name) =>
  unwrap((await client.callTool({ name, arguments: data.arguments[name] })).structuredContent);

const same = (left, right) => {
  if (typeof left !== "object" || left === null) return left === right;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => same(left[key], right[key]));
};
for (const [tool, expected] of Object.entries(data.expected)) {
  const value = await call(tool);
  if (!same(value, expected)) throw new Error(`${tool} gave ${JSON.stringify(value).slice(0, 300)}`);
}
console.log(JSON.stringify({ ready: true }));

const obey = async ({ tool, in_flight, seconds }) => {
  const start = performance.now();
  const deadline = start + seconds * 1000;
  const latencies = [];
  const work = async () => {
    let now = performance.now();
    while (now < deadline) {
      const asked = now;
      await call(tool);
      now = performance.now();
      latencies.push((now - asked) / 1000);
    }
  };
  await Promise.all(Array.from({ length: in_flight }, work));
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((left, right) => left - right);
  return {
    calls: latencies.length,
    seconds: elapsed,
    p50: latencies[Math.floor(latencies.length / 2)],
    p99: latencies[Math.floor((latencies.length * 99) / 100)],
  };
};
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await obey(JSON.parse(line))));
}
process.exit(0);
