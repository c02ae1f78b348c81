// What the TypeScript servers of the matrix have in common; every_python.py has the same tools.
import * as z from "zod";
import { find, users } from "./hosting.mjs";

const patience = 60_000;
const user = z.object({ id: z.number().int(), name: z.string() });
const overs = new Map();
const over = (key) => {
  if (!overs.has(key)) overs.set(key, Promise.withResolvers());
  return overs.get(key);
};
// Node must not wait for these when the server is told to stop.
const later = (resolve, ms, value) => setTimeout(resolve, ms, value).unref();

export const question = "Where to?";
export const form = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

// name: [what it takes, what it gives, what it does]; `work` is { signal, report(progress, total) }.
export const tools = {
  find_user: [{ id: z.number().int() }, user, ({ id }) => find(id)],
  list_users: [{}, z.array(user), () => users],
  get_count: [{}, z.number().int(), () => 42],
  greet: [{ name: z.string() }, z.string(), ({ name }) => `Hello, ${name}`],
  maybe_user: [{ id: z.number().int() }, z.union([user, z.null()]), ({ id }) => find(id)],
  user_or_count: [
    { which: z.enum(["user", "count"]) },
    z.union([user, z.number().int()]),
    ({ which }) => (which === "user" ? users[0] : 42),
  ],
  meant: [{}, z.object({ result: z.number().int() }), () => ({ result: 3 })],
  count_to: [
    { number: z.number().int() },
    z.number().int(),
    async ({ number }, { report }) => {
      for (let done = 1; done <= number; done++) await report(done, number);
      return number;
    },
  ],
  wait: [
    { key: z.string() },
    z.string(),
    async ({ key }, { signal, report }) => {
      signal.addEventListener("abort", () => over(key).resolve(true));
      await report(1, 2);
      return Promise.race([
        over(key).promise.then(() => "given up"),
        new Promise((resolve) => later(resolve, patience, "nobody gave it up")),
      ]);
    },
  ],
  was_given_up: [
    { key: z.string() },
    z.boolean(),
    ({ key }) =>
      Promise.race([
        over(key).promise,
        new Promise((resolve) => later(resolve, patience / 2, false)),
      ]),
  ],
};

export const blocks = [
  { type: "text", text: "a picture" },
  { type: "image", data: "AAE=", mimeType: "image/png" },
];

export const review = ({ code }) => ({
  messages: [{ role: "user", content: { type: "text", text: `Review: ${code}` } }],
});
