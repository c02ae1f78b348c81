// The shop as a TypeScript SDK 2.x McpServer with zod types: natural values at 2026-07-28.
import { McpServer } from "@modelcontextprotocol/server";
import { extra, result, shop } from "./shop.mjs";
import { inputs, lookup, outputs } from "./typescript_schemas.mjs";

export const make = () => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  for (const [name, run] of Object.entries(shop)) {
    const config = { description: "A tool of the shop.", inputSchema: inputs[name], outputSchema: outputs[name] };
    server.registerTool(name, config, async (args) => result(run(args)));
  }
  for (const { name, description } of extra) {
    const config = { description, inputSchema: lookup.input, outputSchema: lookup.output };
    server.registerTool(name, config, async () => result([]));
  }
  return server;
};
