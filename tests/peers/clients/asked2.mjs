// The TypeScript client 2.x, which answers all that a server asks; modes `auto` and `legacy`.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { plan, print, record, target } from "./report.mjs";

const [command, ...args] = target.command ?? [];
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ command, args });
const client = new Client(
  { name: "typescript2", version: "0" },
  {
    versionNegotiation: { mode: plan.mode },
    capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  },
);
client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
client.setRequestHandler("sampling/createMessage", ({ params }) => ({
  role: "assistant",
  content: { type: "text", text: `Re: ${[params.messages[0].content].flat()[0].text}` },
  model: "m",
}));
client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///a" }] }));
await client.connect(transport);
const calls = await record((name, given) => client.callTool({ name, arguments: given }));
await client.close();
print({ calls });
