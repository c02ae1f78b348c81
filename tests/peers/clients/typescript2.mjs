// The TypeScript client 2.x; modes `auto` and `legacy`, the latter for one `revision` only.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answer, connection, everyPage, features, main, plan, record } from "./report.mjs";

await main(async (target) => {
  const [command, ...args] = target.command ?? [];
  const transport = target.url
    ? new StreamableHTTPClientTransport(new URL(target.url))
    : new StdioClientTransport({ command, args });
  const client = new Client(
    { name: "typescript2", version: "0" },
    {
      versionNegotiation: { mode: plan.mode },
      capabilities: { elicitation: {} },
      ...(plan.mode === "legacy" && { supportedProtocolVersions: [plan.revision] }),
    },
  );
  client.setRequestHandler("elicitation/create", async () => answer());
  const logs = [];
  client.setNotificationHandler("notifications/message", ({ params }) => logs.push(params));
  await client.connect(transport);
  // From 2026-07-28 on, each request says which messages it wants.
  const isModern = plan.mode !== "legacy";
  const _meta = isModern ? { "io.modelcontextprotocol/logLevel": "info" } : undefined;
  if (!isModern && plan.features) await client.setLoggingLevel("info");
  const report = {
    ...connection(client, client.getNegotiatedProtocolVersion()),
    tools: await everyPage((page) => client.listTools(page)),
    calls: await record((name, given, onprogress, signal) =>
      client.callTool({ name, arguments: given, _meta }, { onprogress, signal }),
    ),
    features: await features(client),
    logs,
  };
  await client.close();
  return report;
});
