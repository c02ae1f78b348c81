// TypeScript SDK 1.x, McpServer with zod types. It knows no revision after 2025-11-25, so values
// that are no objects are put into an envelope by hand, as its authors do.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";
import { enveloped, extra, listen, shop, transport } from "./shop.mjs";
import { inputs, lookup, outputs } from "./typescript_schemas.mjs";

const shape = (schema) => (schema instanceof z.ZodObject ? schema.shape : { result: schema });

const make = () => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const add = (name, description, input, output, run) => {
    const config = { description, inputSchema: input.shape, outputSchema: shape(output) };
    server.registerTool(name, config, async (args) => {
      const value = run(args);
      return {
        content: [{ type: "text", text: JSON.stringify(value) }],
        structuredContent: enveloped(value),
      };
    });
  };
  for (const [name, run] of Object.entries(shop)) {
    add(name, "A tool of the shop.", inputs[name], outputs[name], run);
  }
  for (const { name, description } of extra) {
    add(name, description, lookup.input, lookup.output, () => []);
  }
  return server;
};

if (transport === "stdio") await make().connect(new StdioServerTransport());
else
  await listen(async (request, response) => {
    const server = make();
    const connection = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    response.on("close", () => server.close());
    await server.connect(connection);
    await connection.handleRequest(request, response);
  });
