export const trackers = {
  title: "Trackers",
  new_tracker: "New tracker",
};
