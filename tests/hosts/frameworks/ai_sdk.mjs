// AI SDK: the tools that its MCP client makes, as `generateText` calls them.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { readFileSync } from "node:fs";

const [target, calls] = process.argv.slice(2).map((text) => JSON.parse(text));
const [command, ...args] = target.command ?? [];
const transport = target.url ? { type: "http", url: target.url } : new StdioTransport({ command, args });

const manifest = new URL("../package.json", import.meta.resolve("@ai-sdk/mcp"));
const report = { version: JSON.parse(readFileSync(manifest)).version, offered: {}, shown: {} };
const client = await createMCPClient({ transport });
try {
  const tools = await client.tools();
  for (const { id, tool, arguments: input } of calls) {
    if (!(tool in tools)) continue;
    report.offered[tool] = tool;
    try {
      const given = await tools[tool].execute(input, { toolCallId: id, messages: [] });
      const output = await tools[tool].toModelOutput?.({ toolCallId: id, input, output: given });
      report.shown[id] = texts(output?.value ?? given);
    } catch (error) {
      report.shown[id] = [`raised ${error.name}: ${error.message}`];
    }
  }
} catch (error) {
  report.failure = `${error.name}: ${error.message}`;
} finally {
  await client.close();
}
console.log("REPORT", JSON.stringify(report));
process.exit(0);

function texts(given) {
  if (typeof given === "string") return [given];
  const blocks = Array.isArray(given) ? given : given?.content;
  if (Array.isArray(blocks) && blocks.length && blocks.every((block) => typeof block?.text === "string"))
    return blocks.map((block) => block.text);
  return [JSON.stringify(given)];
}
