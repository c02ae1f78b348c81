// The TypeScript SDK 2.x: the server of the matrix, natural values at 2026-07-28, its own envelope
// before.
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  createMcpHandler,
  inputRequired,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import * as z from "zod";
import { blocks, form, question, review, tools } from "./every.mjs";
import { failure, listen, text, transport } from "./hosting.mjs";

const make = () => {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  for (const [name, [takes, outputSchema, work]] of Object.entries(tools)) {
    const config = { inputSchema: z.object(takes), outputSchema };
    server.registerTool(name, config, async (given, { mcpReq }) => {
      const report = async (progress, total) => {
        const progressToken = mcpReq._meta?.progressToken;
        if (progressToken === undefined) return;
        const params = { progressToken, progress, total };
        await mcpReq.notify({ method: "notifications/progress", params });
      };
      const value = await work(given, { signal: mcpReq.signal, report });
      return { content: text(value), structuredContent: value };
    });
  }
  const reason = z.object({ reason: z.string() });
  server.registerTool("fail", { inputSchema: reason }, async (given) => failure(given.reason));
  server.registerTool("blocks", {}, async () => ({ content: blocks }));
  server.registerTool("ask", {}, async ({ mcpReq }) => {
    const trip = acceptedContent(mcpReq.inputResponses, "trip");
    if (trip) return { content: [{ type: "text", text: trip.city }] };
    const asked = inputRequired.elicit({ message: question, requestedSchema: form });
    return inputRequired({ inputRequests: { trip: asked } });
  });
  server.registerTool("grow", {}, async () => {
    server.registerTool("grown", {}, async () => ({ content: [] }));
    return { content: [] };
  });
  server.registerPrompt("review", { argsSchema: z.object({ code: z.string() }) }, review);
  server.registerResource("fixed", "demo://fixed", {}, (uri) => ({
    contents: [{ uri: uri.href, text: "contents" }],
  }));
  const template = new ResourceTemplate("demo://users/{name}", { list: undefined });
  server.registerResource("user", template, {}, (uri, { name }) => ({
    contents: [{ uri: uri.href, text: `user ${name}` }],
  }));
  return server;
};

if (transport === "http") listen(toNodeHandler(createMcpHandler(make)));
else serveStdio(make);
