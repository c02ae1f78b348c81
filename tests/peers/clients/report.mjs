// What every Node client script does the same; the arguments and the report are those of report.py.
export const target = JSON.parse(process.argv[2]);
export let plan = JSON.parse(process.argv[3]);

// Runs the plan for the target, or for each of several, and prints the report: `run` takes a target.
export const main = async (run) => {
  if (!Array.isArray(target)) return print(await run(target));
  const common = plan;
  const reports = [];
  for (const each of target) {
    plan = { ...common, ...each.plan };
    reports.push(await run(each).catch((error) => ({ raised: String(error) })));
  }
  print(reports);
};

export const connection = (client, revision) => ({
  revision,
  server: client.getServerVersion() ?? null,
  instructions: client.getInstructions() ?? null,
});

export const byName = (tools) => Object.fromEntries(tools.map((tool) => [tool.name, tool]));

// `page` takes a cursor, or nothing for the first page.
export const everyPage = async (page) => {
  const tools = [];
  let cursor;
  do {
    const listing = await page(cursor && { cursor });
    tools.push(...listing.tools);
    cursor = listing.nextCursor;
  } while (cursor);
  return byName(tools);
};

// `call` takes the tool's name, its arguments, what to tell of progress, and what gives it up.
export const record = async (call) => {
  const outcomes = {};
  for (const { id, tool, arguments: given, give_up } of plan.calls) {
    const progress = [];
    const giving = new AbortController();
    const told = (step) => {
      progress.push([step.progress, step.total ?? null, step.message ?? null]);
      if (give_up) giving.abort("given up");
    };
    let outcome;
    try {
      outcome = await call(tool, given, told, giving.signal);
    } catch (error) {
      outcome = giving.signal.aborted
        ? { given_up: true }
        : { raised: error.message, code: error.code ?? null };
    }
    outcomes[id] = progress.length ? { ...outcome, progress } : outcome;
  }
  return outcomes;
};

// What the server has beside tools; both TypeScript clients ask for it in the same words. The plan's
// `features` are those of report.py.
export const features = async (client) => {
  if (!plan.features) return {};
  const { prompt, blob, resource, missing, complete } = plan.features;
  const outcome = async (asked) => {
    try {
      return await asked;
    } catch (error) {
      return { raised: error.message, code: error.code ?? null };
    }
  };
  const read = async (uri) => (await client.readResource({ uri })).contents[0];
  const found = {};
  if (blob) found.blob = (await read(blob)).blob;
  if (missing) found.missing = await outcome(read(missing));
  if (complete) found.completion = (await client.complete(complete)).completion.values;
  return {
    prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: texts((await client.getPrompt(prompt)).messages),
    resources: (await client.listResources()).resources.map(({ uri }) => uri),
    templates: (await client.listResourceTemplates()).resourceTemplates.map(
      ({ uriTemplate }) => uriTemplate,
    ),
    resource: (await read(resource)).text,
    ...found,
  };
};

export const texts = (messages) => messages.map(({ content }) => content.text);

export const answer = () => ({ action: "accept", content: plan.answer });

export const print = (report) => process.stdout.write(JSON.stringify(report));
