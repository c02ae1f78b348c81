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

export const print = (report) => process.stdout.write(JSON.stringify(report));
