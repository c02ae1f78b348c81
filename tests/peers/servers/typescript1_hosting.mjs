// How a server of the TypeScript SDK 1.x is started: on stdio, or over HTTP with sessions.
import { randomUUID } from "node:crypto";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { listen, transport } from "./hosting.mjs";

export const serve = async (make) => {
  if (transport === "stdio") {
    await make().connect(new StdioServerTransport());
    return;
  }
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
};
