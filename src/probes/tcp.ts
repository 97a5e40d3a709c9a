import * as v from "valibot";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { type Probe, ProbeHost, ProbePort } from "./probe.ts";

const Config = v.strictObject({
  host: v.pipe(
    ProbeHost,
    v.title("Host"),
    v.description("May be private; link-local and cloud metadata addresses are refused"),
  ),
  port: v.pipe(ProbePort, v.title("Port")),
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
          return { ready: true, detail: say("probes.port_open", { port }) };
        } catch (error) {
          if (!(error instanceof PluginError)) throw error;
          return { ready: false, detail: error.said, final: error.code === "rejected" };
        }
      },
    };
  },
};
