import type { Texts } from "../en.ts";

export const connections = {
  title: "连接",
  new_connection: "新建连接",
} satisfies Texts["connections"];
