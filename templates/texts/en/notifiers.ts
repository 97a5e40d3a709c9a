export const notifiers = {
  title: "Notifiers",
  new_notifier: "New notifier",
};
