export const timeline = {
  title: "Version history",
  title_of_executors: "Deployed versions",
  from: "From",
  cause: "Change",
  bounded: (count: number) => `Only the ${count} that changed last are shown`,
  now: "now",
  absent: "Not present",
  causes: {
    first_seen: "First seen",
    run: "Updated by a run",
    rolled_back: "Rolled back by a run",
    outside: "Changed outside Tidemark",
  },
};
