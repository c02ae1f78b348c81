// What the TypeScript servers with prompts and resources have in common.
export const bytes = "AAE=";

export const user = (uri, name) => ({ contents: [{ uri: uri.href, text: `user ${name}` }] });

export const styles = (typed) =>
  ["dry", "drastic", "wet"].filter((word) => word.startsWith(typed ?? ""));

export const review = ({ code, style }) => ({
  messages: [
    { role: "user", content: { type: "text", text: `Review ${style ?? "dry"}: ${code}` } },
  ],
});
