import { parentPort, workerData } from "node:worker_threads";
import * as v from "valibot";
import { errorMessage } from "../errors.ts";
import { copyHere } from "./copy-here.ts";

// Runs `copyHere` in a thread: copying and checking a large file blocks for seconds.

const { file, target } = v.parse(v.object({ file: v.string(), target: v.string() }), workerData);
const answer = await copyHere(file, target).catch((error: unknown) => ({ failed: errorMessage(error) }));
parentPort?.postMessage(answer);
