// The shop's tools for the TypeScript contenders; data and schemas come from bed/shop.py as JSON.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { shop: { type: "string" }, tools: { type: "string", default: "0" } },
});
export const [transport, port] = positionals;
export const data = JSON.parse(readFileSync(values.shop, "utf8"));
export const extra = data.listing.slice(0, Number(values.tools));

const createOrder = (order) => {
  const lines = order.lines.map((line) => ({ ...line, total: line.quantity * line.unit_price }));
  const subtotal = lines.reduce((sum, line) => sum + line.total, 0);
  return {
    id: "ORD-2026-000042",
    status: "accepted",
    created: data.created,
    customer: order.customer,
    currency: order.currency,
    lines,
    subtotal,
    tax: subtotal * data.taxRate,
    total: subtotal + subtotal * data.taxRate,
    note: order.note,
  };
};

export const shop = {
  get_count: () => data.count,
  list_users: ({ limit }) => data.users.slice(0, limit),
  create_order: ({ order }) => createOrder(order),
};

// A result as TypeScript authors write it: the value, and its text for those who read text.
export const result = (value) => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const enveloped = (value) => (isObject(value) ? value : { result: value });

// How the 1.x SDK and 2.x lowlevel are served over HTTP: node:http, one server and transport a request.
export const listen = async (handle) => {
  const { createServer } = await import("node:http");
  createServer(handle).listen(Number(port), "127.0.0.1");
};
