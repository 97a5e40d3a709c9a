import type { Area } from "./types.ts";

/** How far a step has come. */
interface Stage {
  state: "waiting" | "running" | "done" | "failed";
}

/** The steps of runs on containers; steps that all runs have are words of the run's page. */
export const steps = {
  pull: ({ state }: Stage) =>
    ({ waiting: "Pull the image", running: "Pulling the image", done: "Image pulled", failed: "Image not pulled" })[
      state
    ],
  pull_many: ({ state }: Stage) =>
    ({ waiting: "Pull the images", running: "Pulling the images", done: "Images pulled", failed: "Images not pulled" })[
      state
    ],
  create: ({ state }: Stage) =>
    ({
      waiting: "Create the new container",
      running: "Creating the new container",
      done: "New container created and compared with the plan",
      failed: "New container not created",
    })[state],
  wait: ({ state }: Stage) =>
    ({
      waiting: "Wait for dependencies",
      running: "Waiting for dependencies",
      done: "Dependencies healthy",
      failed: "Dependencies not healthy",
    })[state],
  drain: ({ state }: Stage) =>
    ({
      waiting: "Run both containers",
      running: "Both containers running",
      done: "Both containers ran",
      failed: "New container did not stay ready",
    })[state],
  stop: ({ state }: Stage) =>
    ({
      waiting: "Stop the previous container",
      running: "Stopping the previous container",
      done: "Previous container stopped",
      failed: "Previous container not stopped",
    })[state],
  rename: ({ state }: Stage) =>
    ({ waiting: "Swap names", running: "Swapping names", done: "Names swapped", failed: "Names not swapped" })[state],
  start: ({ state }: Stage) =>
    ({
      waiting: "Start the new container",
      running: "Starting the new container",
      done: "New container started",
      failed: "New container did not start",
    })[state],
  undo: ({ state }: Stage) =>
    ({
      waiting: "Restore the previous container",
      running: "Restoring the previous container",
      done: "Previous container restored",
      failed: "Previous container could not be restored",
    })[state],
  remove_old: ({ state }: Stage) =>
    ({
      waiting: "Remove the previous container",
      running: "Removing the previous container",
      done: "Previous container removed",
      failed: "Previous container not removed yet",
    })[state],
} satisfies Area;
