// TypeScript SDK 2.x, McpServer: natural values at 2026-07-28, its own envelope before.
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { failure, listen, run, text, transport } from "./hosting.mjs";
import { inputs, outputs, reason } from "./types.mjs";

const make = () => {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  for (const [name, work] of Object.entries(run)) {
    const config = { inputSchema: inputs[name], outputSchema: outputs[name] };
    server.registerTool(name, config, async (given) => {
      const value = work(given);
      return { content: text(value), structuredContent: value };
    });
  }
  server.registerTool("fail", { inputSchema: reason }, async (given) => failure(given.reason));
  return server;
};

if (transport === "stdio") serveStdio(make);
else listen(toNodeHandler(createMcpHandler(make)));
