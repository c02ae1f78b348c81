// Matches texts with a regular expression: a line {"pattern", "texts"} in, a line out, which is
// [true, false, …], or null if it is no regular expression with the flag u.
import { createInterface } from "node:readline";

function match({ pattern, texts }) {
  try {
    const expression = new RegExp(pattern, "uy");
    return texts.map((text) => matches(expression, text));
  } catch {
    return null;
  }
}

// Tried at each character by itself: left alone, V8 also looks between the two halves of one.
function matches(expression, text) {
  for (let index = 0; index <= text.length; index += text.codePointAt(index) > 0xffff ? 2 : 1) {
    expression.lastIndex = index;
    if (expression.test(text)) return true;
  }
  return false;
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(match(JSON.parse(line))));
}
