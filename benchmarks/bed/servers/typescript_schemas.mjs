// The shop's types in zod, as TypeScript authors write them.
import * as z from "zod";

const address = z.object({ street: z.string(), city: z.string(), country: z.string().length(2) });
const customer = z.object({ id: z.int(), name: z.string(), email: z.string(), address });
const line = z.object({
  sku: z.string(),
  description: z.string(),
  quantity: z.int().min(1),
  unit_price: z.number().min(0),
  tags: z.array(z.string()),
});
const currency = z.enum(["EUR", "NOK", "USD"]);
const user = z.object({ id: z.int(), name: z.string(), email: z.string(), active: z.boolean() });

export const inputs = {
  get_count: z.object({}),
  list_users: z.object({ limit: z.int() }),
  create_order: z.object({
    order: z.object({ customer, currency, lines: z.array(line), note: z.string() }),
  }),
};
export const outputs = {
  get_count: z.int(),
  list_users: z.array(user),
  create_order: z.object({
    id: z.string(),
    status: z.enum(["accepted", "rejected"]),
    created: z.string(),
    customer,
    currency,
    lines: z.array(line.extend({ total: z.number() })),
    subtotal: z.number(),
    tax: z.number(),
    total: z.number(),
    note: z.string(),
  }),
};

const filters = z.object({
  owner: z.string().nullable().default(null),
  tags: z.array(z.string()).max(10),
  archived: z.boolean().default(false),
});
export const lookup = {
  input: z.object({
    query: z.string().min(1).describe("What to look for"),
    limit: z.int().min(1).max(100).default(20),
    order: z.enum(["newest", "oldest", "relevance"]).default("relevance"),
    filters: filters.nullable().default(null),
  }),
  output: z.array(z.object({ id: z.int(), title: z.string(), score: z.number() })),
};
