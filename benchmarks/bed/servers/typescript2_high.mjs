// TypeScript SDK 2.x, McpServer.
import { createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { listen, transport } from "./shop.mjs";
import { make } from "./typescript2_shop.mjs";

if (transport === "stdio") serveStdio(make);
else await listen(toNodeHandler(createMcpHandler(make)));
