import type { Texts } from "../en.ts";

export const credentials = {
  title: "凭据",
  new_credential: "新建凭据",
} satisfies Texts["credentials"];
