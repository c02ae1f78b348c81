// TypeScript SDK 2.x, lowlevel Server: hand-written schemas, results built by hand, so that the
// envelope for older clients is the author's business too.
import { Server, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { data, enveloped, extra, listen, result, shop, transport } from "./shop.mjs";

const tools = [
  ...Object.keys(shop).map((name) => ({
    name,
    description: "A tool of the shop.",
    inputSchema: data.inputs[name],
    outputSchema: data.outputs[name],
  })),
  ...extra,
];

const older = tools.map(({ outputSchema, ...tool }) =>
  outputSchema.type === "object" ? { ...tool, outputSchema } : tool,
);

const make = ({ era }) => {
  const server = new Server({ name: "shop", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools: era === "legacy" ? older : tools }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const answer = result(shop[params.name](params.arguments));
    if (era === "legacy") answer.structuredContent = enveloped(answer.structuredContent);
    return answer;
  });
  return server;
};

if (transport === "stdio") serveStdio(make);
else await listen(toNodeHandler(createMcpHandler(make)));
