// Every table and index, for the program and for the tool that writes migrations.

export * from "./tables/auth.ts";
export * from "./tables/connections.ts";
export * from "./tables/executors.ts";
export * from "./tables/installation.ts";
export * from "./tables/notifications.ts";
export * from "./tables/oidc.ts";
export * from "./tables/runs.ts";
export * from "./tables/trackers.ts";
export * from "./tables/upstreams.ts";
