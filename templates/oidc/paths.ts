/** The one provider's page: there is no list. */
export const providerPath = "/settings/sign-in-provider";
/** The binding of the account, on the account's page. */
export const bindingPath = "/account/binding";
