// The Inspector's command line, as its launcher runs it, once for every request; modes
// `modern` and `legacy`. One process runs them all, because starting Node anew would take longer
// than the rest.
import { runCli } from "@modelcontextprotocol/inspector/clients/cli/build/index.js";
import { byName, plan, print, record, target, texts } from "./report.mjs";

const where = target.url ? [target.url] : target.command;
const write = process.stdout.write;

const ask = async (...options) => {
  let printed = "";
  process.stdout.write = (text, done) => {
    printed += text;
    done?.();
    return true;
  };
  try {
    const era = ["--protocol-era", plan.mode];
    await runCli(["node", "inspector", ...where, ...era, "--quiet", "--format", "json", ...options]);
  } catch (error) {
    // A tool that failed is printed all the same, and thrown for the sake of the exit code.
    if (!printed) throw error;
  } finally {
    process.stdout.write = write;
  }
  return JSON.parse(printed).result;
};

const read = async (uri) => (await ask("--method", "resources/read", "--uri", uri)).contents[0];
const { prompt, resource, blob, missing } = plan.features ?? {};
const given = Object.entries(prompt?.arguments ?? {}).flatMap(([name, value]) => [
  "--prompt-args",
  `${name}=${value}`,
]);

const { protocolVersion, serverInfo, instructions } = await ask("--method", "initialize");
const report = {
  revision: protocolVersion,
  server: serverInfo,
  instructions,
  tools: byName((await ask("--method", "tools/list")).tools),
  calls: await record((name, given) => {
    const call = ["--tool-name", name, "--tool-args-json", JSON.stringify(given)];
    return ask("--method", "tools/call", ...call);
  }),
  // It completes nothing, and shows no log messages.
  features: plan.features && {
    prompts: (await ask("--method", "prompts/list")).prompts.map(({ name }) => name),
    prompt: texts(
      (await ask("--method", "prompts/get", "--prompt-name", prompt.name, ...given)).messages,
    ),
    resources: (await ask("--method", "resources/list")).resources.map(({ uri }) => uri),
    templates: (await ask("--method", "resources/templates/list")).resourceTemplates.map(
      ({ uriTemplate }) => uriTemplate,
    ),
    resource: (await read(resource)).text,
    blob: (await read(blob)).blob,
    missing: await read(missing).catch(({ message, code }) => ({ raised: message, code: code ?? null })),
  },
  logs: [],
};
print(report);
process.exit(0);
