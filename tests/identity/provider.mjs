// A certified OpenID provider on a free port of loopback: `provider.mjs RESOURCE`. Prints its issuer.
// Anybody may sign in, under any name; tokens for RESOURCE are JWTs that last a minute.

import { createServer } from "node:http";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import Provider from "oidc-provider";

const [resource] = process.argv.slice(2);
const server = createServer();
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "one" };

const provider = new Provider(issuer, {
  cookies: { keys: [randomBytes(32).toString("hex")] },
  jwks: { keys: [key] },
  scopes: ["openid", "offline_access", "read", "write"],
  pkce: { required: () => true },
  clientDefaults: { id_token_signed_response_alg: "ES256" },
  enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
  rotateRefreshToken: true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => {
        if (indicator !== resource) throw new Error("unknown resource");
        return {
          scope: "read write",
          audience: resource,
          accessTokenTTL: 60,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } },
        };
      },
    },
  },
});

server.on("request", provider.callback());
console.log(JSON.stringify({ issuer }));
