// The TypeScript client 1.x, which answers all that a server asks.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { print, record, target } from "./report.mjs";

const [command, ...args] = target.command ?? [];
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ command, args });
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const client = new Client({ name: "typescript1", version: "0" }, { capabilities });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
  role: "assistant",
  content: { type: "text", text: `Re: ${[params.messages[0].content].flat()[0].text}` },
  model: "m",
}));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///a" }] }));
await client.connect(transport);
const calls = await record((name, given) => client.callTool({ name, arguments: given }));
await client.close();
print({ calls });
