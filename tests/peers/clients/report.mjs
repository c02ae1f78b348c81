// What every Node client script does the same; the arguments and the report are those of report.py.
export const target = JSON.parse(process.argv[2]);
export const plan = JSON.parse(process.argv[3]);

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

// `call` takes the tool's name, its arguments and what to tell of progress.
export const record = async (call) => {
  const outcomes = {};
  for (const { id, tool, arguments: given } of plan.calls) {
    const progress = [];
    const told = (step) => progress.push([step.progress, step.total ?? null, step.message ?? null]);
    let outcome;
    try {
      outcome = await call(tool, given, told);
    } catch (error) {
      outcome = { raised: error.message, code: error.code ?? null };
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
  return {
    prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: texts((await client.getPrompt(prompt)).messages),
    resources: (await client.listResources()).resources.map(({ uri }) => uri),
    templates: (await client.listResourceTemplates()).resourceTemplates.map(
      ({ uriTemplate }) => uriTemplate,
    ),
    resource: (await read(resource)).text,
    blob: (await read(blob)).blob,
    missing: await outcome(read(missing)),
    completion: (await client.complete(complete)).completion.values,
  };
};

export const texts = (messages) => messages.map(({ content }) => content.text);

export const answer = { action: "accept", content: plan.answer };

export const print = (report) => process.stdout.write(JSON.stringify(report));
