/** The only provider's page: there is no list. */
export const providerPath = "/settings/sign-in-provider";
/** The account's binding, on the account's page. */
export const bindingPath = "/account/binding";
