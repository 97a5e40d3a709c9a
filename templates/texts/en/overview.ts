export const overview = {
  needs_you: "Needs you",
  going_on: "Going on",
  last_days: "Last 30 days",
  request_budgets: "Request budgets",
};
