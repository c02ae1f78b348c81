// TypeScript SDK 1.x, McpServer: only objects, so authors put other values into an envelope.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";
import { failure, run, text } from "./hosting.mjs";
import { serve } from "./typescript1_hosting.mjs";
import { inputs, outputs, reason } from "./types.mjs";

const make = () => {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  for (const [name, work] of Object.entries(run)) {
    const natural = outputs[name] instanceof z.ZodObject;
    const outputSchema = natural ? outputs[name].shape : { result: outputs[name] };
    server.registerTool(name, { inputSchema: inputs[name].shape, outputSchema }, async (given) => {
      const value = work(given);
      return { content: text(value), structuredContent: natural ? value : { result: value } };
    });
  }
  server.registerTool("fail", { inputSchema: reason.shape }, async (given) => failure(given.reason));
  return server;
};

await serve(make);
