// Judges values by schemas with Ajv: a line {"dialect", "schema", "values"} in, a line out, which is
// {"verdicts": [true, false, …]} or {"refused": "why"}.
import { createInterface } from "node:readline";
import Ajv from "ajv";
import Ajv2019 from "ajv/dist/2019.js";
import Ajv2020 from "ajv/dist/2020.js";
import Ajv04 from "ajv-draft-04";
import draft06 from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };

const options = { strict: false, validateFormats: false, logger: false };
const makers = {
  4: () => new Ajv04.default(options),
  6: () => new Ajv.default(options).addMetaSchema(draft06),
  7: () => new Ajv.default(options),
  19: () => new Ajv2019.default(options),
  20: () => new Ajv2020.default(options),
};
const kept = {};

function instance(dialect) {
  // Compiled schemas are remembered by object; a new instance now and then forgets them.
  const known = (kept[dialect] ??= { uses: 0, ajv: makers[dialect]() });
  if (++known.uses > 300) kept[dialect] = { uses: 0, ajv: makers[dialect]() };
  return kept[dialect].ajv;
}

function judge({ dialect, schema, values }) {
  const ajv = instance(dialect);
  try {
    const validate = ajv.compile(schema);
    return { verdicts: values.map((value) => validate(value)) };
  } catch (error) {
    return { refused: String(error.message ?? error).slice(0, 300) };
  } finally {
    ajv.removeSchema(/^(urn:example|https:\/\/example)/); // Names that the next one may have, too.
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(judge(JSON.parse(line))) + "\n");
}
