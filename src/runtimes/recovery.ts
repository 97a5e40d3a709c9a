import { PluginError } from "../errors.ts";
import type { Recovery } from "./session.ts";

/** A run is not recovered again once its repeated rollback has failed, or its target is gone. */
export async function unlessStuck(recovery: Promise<Recovery>): Promise<Recovery> {
  try {
    return await recovery;
  } catch (error) {
    const isFinal = error instanceof PluginError && (error.code === "rejected" || error.code === "not_found");
    if (!isFinal) throw error;
    return { state: "down", detail: error.said };
  }
}
