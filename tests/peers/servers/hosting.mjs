// How TypeScript peer servers are started: `stdio`; `http` or `sse`, the port on the first line.
import { createServer } from "node:http";

export const transport = process.argv[2];

export const users = [
  { id: 1, name: "Ada" },
  { id: 2, name: "Grace" },
];
export const find = (id) => users.find((user) => user.id === id) ?? null;

export const run = {
  get_count: () => 42,
  list_users: () => users,
  no_users: () => [],
  find_user: ({ id }) => find(id),
  maybe_user: ({ id }) => find(id),
  greet: ({ name }) => `Hello, ${name}`,
  is_even: ({ number }) => number % 2 === 0,
};

export const text = (value) => [{ type: "text", text: JSON.stringify(value) }];
export const failure = (reason) => ({ content: [{ type: "text", text: reason }], isError: true });
export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const listen = (handle) => {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
};
