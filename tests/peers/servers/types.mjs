// What the tools take and give, in zod.
import * as z from "zod";

const user = z.object({ id: z.int(), name: z.string() });

export const inputs = {
  get_count: z.object({}),
  list_users: z.object({}),
  no_users: z.object({}),
  find_user: z.object({ id: z.int() }),
  maybe_user: z.object({ id: z.int() }),
  greet: z.object({ name: z.string() }),
  is_even: z.object({ number: z.int() }),
};
export const outputs = {
  get_count: z.int(),
  list_users: z.array(user),
  no_users: z.array(user),
  find_user: user,
  maybe_user: z.union([user, z.null()]),
  greet: z.string(),
  is_even: z.boolean(),
};
export const reason = z.object({ reason: z.string() });
