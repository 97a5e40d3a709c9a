export const auth = {
  sign_in: "Sign in",
  sign_in_lead: "One administrator keeps watch here.",
  user_name: "User name",
  password: "Password",
  current_password: "Current password",
  new_password: "New password",
  repeat_password: "New password again",
};
