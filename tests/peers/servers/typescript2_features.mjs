// TypeScript SDK 2.x: prompts, resources, completion and logs, in both eras.
import {
  McpServer,
  ResourceTemplate,
  completable,
  createMcpHandler,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import * as z from "zod";
import { bytes, review, styles, user } from "./features.mjs";
import { listen, transport } from "./hosting.mjs";

const make = () => {
  const server = new McpServer({ name: "peer", version: "1.0.0" }, { capabilities: { logging: {} } });
  server.registerResource("fixed", "demo://fixed", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, text: "contents" }],
  }));
  server.registerResource("bytes", "demo://bytes", {}, (uri) => ({
    contents: [{ uri: uri.href, blob: bytes }],
  }));
  const template = new ResourceTemplate("demo://users/{name}", { list: undefined });
  server.registerResource("user", template, {}, (uri, { name }) => user(uri, name));
  const argsSchema = z.object({
    code: z.string(),
    style: completable(z.string(), styles).optional(),
  });
  server.registerPrompt("review", { title: "Review code", argsSchema }, review);
  server.registerTool("log", {}, async ({ mcpReq }) => {
    await mcpReq.log("info", "working");
    return { content: [] };
  });
  return server;
};

if (transport === "stdio") serveStdio(make);
else listen(toNodeHandler(createMcpHandler(make)));
