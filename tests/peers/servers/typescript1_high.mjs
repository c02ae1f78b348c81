// TypeScript SDK 1.x, McpServer: only objects, so authors put other values into an envelope.
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";
import { failure, isObject, listen, run, text, transport } from "./hosting.mjs";
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

if (transport === "stdio") await make().connect(new StdioServerTransport());
else {
  // As its documentation has it: one transport a session, found by the session's id.
  const sessions = new Map();
  listen(async (request, response) => {
    let session = sessions.get(request.headers["mcp-session-id"]);
    if (request.headers["mcp-session-id"] && !session) {
      response.writeHead(404).end();
      return;
    }
    if (!session) {
      session = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, session),
        onsessionclosed: (id) => sessions.delete(id),
      });
      await make().connect(session);
    }
    await session.handleRequest(request, response);
  });
}
