export const credentials = {
  title: "Credentials",
  new_credential: "New credential",
};
