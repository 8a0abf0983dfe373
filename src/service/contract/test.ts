import { z } from 'zod';
import { messageResponse } from './fields.ts';
import { defineOperation } from './operation.ts';

export const testOperations = {
  public_hello: defineOperation({
    group: 'test',
    method: 'GET',
    path: '/v1/public/hello',
    sendsKey: false,
    response: messageResponse,
    repeatable: true,
    description:
      'Confirms that a request was received and points to the authenticated test endpoint. Endpoints, Test endpoints.',
  }),
  account_hello: defineOperation({
    group: 'test',
    method: 'GET',
    path: '/v1/account/hello',
    response: z.looseObject({
      message: z
        .string()
        .meta({ pattern: '^You are logged in - .+ - .+$' })
        .describe('"You are logged in - <account_id> - <user_id>"'),
    }),
    repeatable: true,
    description:
      'Returns the account and the user to which the key belongs. Endpoints, Test endpoints; Authentication, 3.',
  }),
};
