import { answer, type Handlers } from './operation.ts';

export const test: Handlers = {
  public_hello: () =>
    answer({ message: 'Your request was received. Try GET /v1/account/hello with your API key next.' }),
  account_hello: ({ account, userId }) =>
    answer({ message: `You are logged in - ${account.id} - ${userId}` }),
};
