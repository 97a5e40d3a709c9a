export const timeline = {
  title: "Version history",
  now: "now",
  absent: "Not there",
  causes: {
    first_seen: "First seen",
    run: "Updated by a run",
    rolled_back: "Rolled back by a run",
    outside: "Changed outside Tidemark",
  },
};
