// TypeScript SDK 2.x, McpServer with zod types: natural values at 2026-07-28.
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { extra, listen, result, shop, transport } from "./shop.mjs";
import { inputs, lookup, outputs } from "./typescript_schemas.mjs";

const make = () => {
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

if (transport === "stdio") serveStdio(make);
else await listen(toNodeHandler(createMcpHandler(make)));
