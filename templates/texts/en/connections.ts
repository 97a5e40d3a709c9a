export const connections = {
  title: "Connections",
  new_connection: "New connection",
};
