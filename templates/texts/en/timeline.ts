export const timeline = {
  title: "Version history",
  title_of_executors: "Deployed versions",
  from: "From",
  cause: "Change",
  bounded: (count: number) => `Drawn: the ${count} that changed last`,
  now: "now",
  absent: "Not there",
  causes: {
    first_seen: "First seen",
    run: "Updated by a run",
    rolled_back: "Rolled back by a run",
    outside: "Changed outside Tidemark",
  },
};
