import { z } from 'zod';
import { answeredId, platform, text } from './fields.ts';
import { defineOperation } from './operation.ts';
import { searchFilter } from './search-filter.ts';

export const searchOperations = {
  get_search: defineOperation({
    group: 'search',
    method: 'POST',
    path: '/v1/search/get_search',
    body: z.looseObject({
      platform,
      filter: searchFilter,
      search_timestamp: z.int().optional().describe('Unix seconds, for time-based filtering.'),
      offset: z.int().min(0).optional().describe('Pagination offset; each request returns 10 influencers.'),
    }),
    response: z.looseObject({
      results: z.looseObject({ accounts: z.array(z.unknown()).describe('Entries: not shown.') }),
      cost: z.string().optional(),
      shown_accounts: z.array(answeredId),
      search_credits_left: z
        .number()
        .describe(
          'Search credits left, divided by 50; multiplied by 50, it is the number of new influencers that you can still see.',
        ),
      search_timestamp: z.int(),
      success: z.boolean(),
    }),
    repeatable: false,
    credits: '1 search credit for each new influencer seen',
    description: 'Finds influencers, 10 per request. Endpoints, Search and reports.',
  }),
  database_influencers: defineOperation({
    group: 'search',
    method: 'GET',
    path: '/v1/search/database_influencers',
    query: z.looseObject({
      q: text.describe('Search term.'),
      type: z
        .enum(['topic-tags', 'search'])
        .describe('topic-tags: lookalike influencers; search: any influencer.'),
      platform,
    }),
    response: z.looseObject({ items: z.array(z.string()) }),
    repeatable: true,
    description: 'Looks up handles and tags. Endpoints, Search and reports.',
  }),
  locations: defineOperation({
    group: 'search',
    method: 'GET',
    path: '/v1/search/locations',
    query: z.looseObject({ q: text.describe('Search term.') }),
    response: z.looseObject({
      items: z.array(z.looseObject({})).describe('Entries: not shown.'),
      inputPhrase: z.string().describe('Echo of the search term.'),
    }),
    repeatable: true,
    description: 'Looks up location ids for the filters geo and audience_geo. Endpoints, Search and reports.',
  }),
  get_analytics_page: defineOperation({
    group: 'search',
    method: 'GET',
    path: '/v1/search/get_analytics_page',
    query: z
      .looseObject({
        user_id: z.string().optional().describe('User id of the influencer. Not in the specification.'),
        influencer_handle: z.string().optional().describe('Instead of user_id. Not in the specification.'),
        platform: platform
          .optional()
          .describe('Platform of influencer_handle, which may exist on several. Not in the specification.'),
      })
      .describe('Not shown; these members are an assumption of this project.'),
    response: z.unknown().describe('Not shown.'),
    repeatable: false,
    credits: 'none if the report exists; 1 report credit when a new one is generated',
    description:
      'Returns the analytics report of one influencer and generates the report if there is none. Endpoints, Search and reports; Limits.',
  }),
};
