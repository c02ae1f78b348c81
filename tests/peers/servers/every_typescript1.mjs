// The TypeScript SDK 1.x, from 1.11 on: the server of the matrix. The first argument is its package.
// It has structured content for objects only, so authors wrap other values. 1.11 has it before its
// revision did.
import { ZodObject, z } from "zod";
import { blocks, form, question, review, tools } from "./every.mjs";
import { failure, text } from "./hosting.mjs";

const from = process.argv[2];
const { McpServer, ResourceTemplate } = await import(`${from}/server/mcp.js`);
const { StdioServerTransport } = await import(`${from}/server/stdio.js`);

const server = new McpServer({ name: "peer", version: "1.0.0" });
for (const [name, [takes, gives, work]] of Object.entries(tools)) {
  const natural = gives instanceof ZodObject;
  const outputSchema = natural ? gives.shape : { result: gives };
  server.registerTool(name, { inputSchema: takes, outputSchema }, async (given, extra) => {
    const report = async (progress, total) => {
      const progressToken = extra._meta?.progressToken;
      if (progressToken === undefined) return;
      const params = { progressToken, progress, total };
      await extra.sendNotification({ method: "notifications/progress", params });
    };
    const value = await work(given, { signal: extra.signal, report });
    return { content: text(value), structuredContent: natural ? value : { result: value } };
  });
}
const inputSchema = { reason: z.string() };
server.registerTool("fail", { inputSchema }, async ({ reason }) => failure(reason));
server.registerTool("blocks", {}, async () => ({ content: blocks }));
if (server.server.elicitInput)
  server.registerTool("ask", {}, async () => {
    const asked = await server.server.elicitInput({ message: question, requestedSchema: form });
    return { content: [{ type: "text", text: asked.content.city }] };
  });
server.prompt("review", { code: z.string() }, review);
server.resource("fixed", "demo://fixed", async (uri) => ({
  contents: [{ uri: uri.href, text: "contents" }],
}));
const template = new ResourceTemplate("demo://users/{name}", { list: undefined });
server.resource("user", template, async (uri, { name }) => ({
  contents: [{ uri: uri.href, text: `user ${name}` }],
}));
await server.connect(new StdioServerTransport());
