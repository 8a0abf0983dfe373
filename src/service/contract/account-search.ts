import { z } from 'zod';
import { defineOperation } from './operation.ts';

/**
 * The specification does not show the shape of the records. The service has answered with a bare array and
 * with an object that contains an array.
 */
const listing = z.union([z.array(z.unknown()), z.looseObject({})]).describe('Not shown.');
const query = z.looseObject({}).describe('Not shown.');

export const accountSearchOperations = {
  search_dealflows: defineOperation({
    group: 'account search',
    method: 'GET',
    path: '/v1/account/search_dealflows',
    query,
    response: listing,
    repeatable: true,
    description: 'Lists all dealflows of the account. Endpoints, Account search.',
  }),
  search_brands: defineOperation({
    group: 'account search',
    method: 'GET',
    path: '/v1/account/search_brands',
    query,
    response: listing,
    repeatable: true,
    description: 'Lists the brands of the account. Endpoints, Account search.',
  }),
  autocomplete: defineOperation({
    group: 'account search',
    method: 'GET',
    path: '/v1/crm/autocomplete',
    query: z.looseObject({
      q: z
        .string()
        .optional()
        .describe(
          'Name or handle. The specification does not show the name of this parameter; this project uses q.',
        ),
    }),
    response: listing,
    repeatable: true,
    usualWords: 'any',
    description: 'Finds deals by the name or handle of their influencer. Endpoints, Account search.',
  }),
};
