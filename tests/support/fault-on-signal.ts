// Loaded before the service: a fault of ours that nobody catches, whenever a test asks for it.

process.on("SIGUSR2", () => {
  // With the shape of a secret in it, which the log has to take out.
  Promise.withResolvers().reject(new Error(`A promise that nobody waits for, ghp_${"a1B2".repeat(9)}`));
});
process.on("SIGHUP", () => {
  setTimeout(() => {
    throw new Error("An exception that nobody catches");
  });
});
