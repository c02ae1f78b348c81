// A TypeScript 1.x client, whose package the plan's `mode` names: the official one, or the one that
// the SEP was written with. It asks for the newest revision it knows; so that it asks for the plan's
// `revision` instead, the request is changed on its way out.
import { answer, connection, everyPage, features, main, plan, record } from "./report.mjs";

const { Client } = await import(`${plan.mode}/client/index.js`);
const { StdioClientTransport } = await import(`${plan.mode}/client/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${plan.mode}/client/streamableHttp.js`);
const { ElicitRequestSchema, LoggingMessageNotificationSchema, SUPPORTED_PROTOCOL_VERSIONS } =
  await import(`${plan.mode}/types.js`);

SUPPORTED_PROTOCOL_VERSIONS.push(plan.revision);

await main(async (target) => {
  const [command, ...args] = target.command ?? [];
  const transport = target.url
    ? new StreamableHTTPClientTransport(new URL(target.url))
    : new StdioClientTransport({ command, args });

  let agreed;
  const { send, setProtocolVersion } = transport;
  transport.send = (message, options) => {
    if (message.method === "initialize") message.params.protocolVersion = plan.revision;
    return send.call(transport, message, options);
  };
  transport.setProtocolVersion = (revision) => {
    agreed = revision;
    setProtocolVersion?.call(transport, revision);
  };
  const client = new Client(
    { name: "typescript1", version: "0" },
    { capabilities: ElicitRequestSchema ? { elicitation: {} } : {} },
  );
  // Those before 1.13 are not asked.
  if (ElicitRequestSchema) client.setRequestHandler(ElicitRequestSchema, async () => answer());
  const logs = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params));
  await client.connect(transport);
  if (plan.features) await client.setLoggingLevel("info");
  const report = {
    ...connection(client, agreed),
    tools: await everyPage((page) => client.listTools(page)),
    calls: await record((name, given, onprogress, signal) =>
      client.callTool({ name, arguments: given }, undefined, { onprogress, signal }),
    ),
    features: await features(client),
    logs,
  };
  await client.close();
  return report;
});
