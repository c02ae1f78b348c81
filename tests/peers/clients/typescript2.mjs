// The TypeScript client 2.x; modes `auto` and `legacy`, the latter for one `revision` only.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connection, everyPage, plan, print, record, target } from "./report.mjs";

const [command, ...args] = target.command ?? [];
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url))
  : new StdioClientTransport({ command, args });
const client = new Client(
  { name: "typescript2", version: "0" },
  {
    versionNegotiation: { mode: plan.mode },
    ...(plan.mode === "legacy" && { supportedProtocolVersions: [plan.revision] }),
  },
);
await client.connect(transport);
const report = {
  ...connection(client, client.getNegotiatedProtocolVersion()),
  tools: await everyPage((page) => client.listTools(page)),
  calls: await record((name, given, onprogress) =>
    client.callTool({ name, arguments: given }, { onprogress }),
  ),
};
await client.close();
print(report);
