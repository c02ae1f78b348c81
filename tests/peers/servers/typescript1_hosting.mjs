// How a server of the TypeScript SDK 1.x is started: on stdio, over HTTP with sessions, or HTTP+SSE.
import { randomUUID } from "node:crypto";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { listen, transport } from "./hosting.mjs";

export const serve = async (make) => {
  if (transport === "stdio") {
    await make().connect(new StdioServerTransport());
    return;
  }
  if (transport === "sse") {
    serveEvents(make);
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

// As its documentation has it for the transport of 2024-11-05.
const serveEvents = (make) => {
  const streams = new Map();
  listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (request.method === "GET" && pathname === "/sse") {
      const stream = new SSEServerTransport("/messages", response);
      streams.set(stream.sessionId, stream);
      response.on("close", () => streams.delete(stream.sessionId));
      await make().connect(stream);
      return;
    }
    const stream = pathname === "/messages" && streams.get(searchParams.get("sessionId"));
    if (stream) await stream.handlePostMessage(request, response);
    else response.writeHead(404).end(`Cannot ${request.method} ${pathname}`);
  });
};
