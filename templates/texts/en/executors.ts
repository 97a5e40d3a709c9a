export const executors = {
  title: "Executors",
  new_executor: "New executor",
};
