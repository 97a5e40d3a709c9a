import * as v from "valibot";
import { PluginError } from "../errors.ts";
import { plain } from "../messages/message.ts";
import { isBareHost } from "../net/destination.ts";
import type { Probe } from "./probe.ts";

const Config = v.strictObject({
  host: v.pipe(
    v.string(),
    v.check(isBareHost, "Write a host name or an address alone, without scheme, port, path or brackets"),
    v.title("Host"),
    v.description("May be private; link-local and cloud metadata addresses are refused"),
  ),
  port: v.pipe(
    v.number(),
    v.integer("A port is a whole number"),
    v.minValue(1, "A port is at least 1"),
    v.maxValue(65_535, "A port is at most 65535"),
    v.title("Port"),
  ),
});

export const tcp: Probe<"tcp"> = {
  kind: "tcp",
  title: "TCP probe",
  Config,
  destination: (config) => ({ ...v.parse(Config, config), purpose: "tcp" }),
  open: (config, context) => {
    const { host, port } = v.parse(Config, config);
    return {
      attempt: async (signal) => {
        try {
          await context.connect(host, port, signal);
          return { ready: true, detail: plain(`Port ${port} accepts connections`) };
        } catch (error) {
          if (!(error instanceof PluginError)) throw error;
          return { ready: false, detail: error.said, final: error.code === "rejected" };
        }
      },
    };
  },
};
