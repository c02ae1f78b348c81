// TypeScript SDK 2.x, lowlevel Server: schemas and results by hand, natural in the modern era.
import { Server, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import * as z from "zod";
import { failure, isObject, listen, run, text, transport } from "./hosting.mjs";
import { inputs, outputs, reason } from "./types.mjs";

const envelope = (schema) => ({ type: "object", properties: { result: schema }, required: ["result"] });

const entry = (name, legacy) => {
  const outputSchema = z.toJSONSchema(outputs[name]);
  delete outputSchema.$schema;
  return {
    name,
    inputSchema: z.toJSONSchema(inputs[name]),
    outputSchema: legacy && outputSchema.type !== "object" ? envelope(outputSchema) : outputSchema,
  };
};

const make = ({ era }) => {
  const legacy = era === "legacy";
  const server = new Server({ name: "peer", version: "1.0.0" }, { capabilities: { tools: {} } });
  const tools = Object.keys(run).map((name) => entry(name, legacy));
  tools.push({ name: "fail", inputSchema: z.toJSONSchema(reason) });
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    if (params.name === "fail") return failure(params.arguments.reason);
    const value = run[params.name](params.arguments);
    const wrapped = legacy && tools.find(({ name }) => name === params.name).outputSchema.properties?.result;
    return { content: text(value), structuredContent: wrapped ? { result: value } : value };
  });
  return server;
};

if (transport === "stdio") serveStdio(make);
else listen(toNodeHandler(createMcpHandler(make)));
