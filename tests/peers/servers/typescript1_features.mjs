// TypeScript SDK 1.x: prompts, resources, completion and logs.
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import * as z from "zod";
import { bytes, review, styles, user } from "./features.mjs";
import { serve } from "./typescript1_hosting.mjs";

await serve(() => {
  const server = new McpServer({ name: "peer", version: "1.0.0" }, { capabilities: { logging: {} } });
  server.registerResource("fixed", "demo://fixed", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, text: "contents" }],
  }));
  server.registerResource("bytes", "demo://bytes", {}, (uri) => ({
    contents: [{ uri: uri.href, blob: bytes }],
  }));
  const template = new ResourceTemplate("demo://users/{name}", { list: undefined });
  server.registerResource("user", template, {}, (uri, { name }) => user(uri, name));
  // An optional argument has to be said to complete twice: it looks inside when it registers the
  // method, and outside when it is asked.
  const style = completable(completable(z.string(), styles).optional(), styles);
  const argsSchema = { code: z.string(), style };
  server.registerPrompt("review", { title: "Review code", argsSchema }, review);
  server.registerTool("log", {}, async ({ sendNotification }) => {
    const params = { level: "info", data: "working" };
    await sendNotification({ method: "notifications/message", params });
    return { content: [] };
  });
  return server;
});
