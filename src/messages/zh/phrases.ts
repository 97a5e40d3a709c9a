import type { phrases as english } from "../phrases.ts";
import type { Rendering } from "../types.ts";

export const phrases = {
  joined: ({ items }, tell) => items.map(tell).join("；"),
  about: ({ name, said }, tell) => `“${name}”：${tell(said)}`,
} satisfies Rendering<typeof english>;
