export const runs = {
  title: "Runs",
};
