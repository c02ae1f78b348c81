// Lets a script anywhere in the tree import the packages installed beside this file.
// scripts/node.py copies it into the installation and loads it with `node --import`.
import { registerHooks } from "node:module";

const installation = new URL("./package.json", import.meta.url).href;
const isBare = (specifier) => !/^([./#]|[a-z]+:)/.test(specifier);

registerHooks({
  resolve(specifier, context, next) {
    const own = isBare(specifier) && !context.parentURL?.includes("/node_modules/");
    return next(specifier, own ? { ...context, parentURL: installation } : context);
  },
});
