import { filterPlatforms } from '../../service/contract/search-filter.ts';
import type { BodyOf } from '../../service/contract.ts';
import { audienceFilters } from './audience-filters.ts';
import type { Influencer, Platform } from './influencer.ts';
import type { Population } from './population.ts';
import {
  type FilterName,
  type FilterTests,
  type FilterValue,
  type MakeTest,
  profileFilters,
} from './profile-filters.ts';
import { isProblem, type Test } from './read-filter.ts';

/** All filters of the table in section "Search and reports". The sandbox evaluates each of them. */
const tests: FilterTests = { ...profileFilters, ...audienceFilters };

export type Found =
  | {
      readonly kind: 'found';
      /** All matches, the most followed first. */
      readonly influencers: readonly Influencer[];
      /** Members of the filter that are not in the specification. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Searches one platform.
 *
 * @param knownUntil Unix seconds; influencers that were added to the database later are left out.
 */
export function searchInfluencers(
  population: Population,
  query: {
    readonly platform: Platform;
    readonly filter: BodyOf<'get_search'>['filter'];
    readonly knownUntil: number;
  },
): Found {
  const { platform, filter, knownUntil } = query;
  const chosen: Test[] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const applies = filterPlatforms[name] ?? [platform];
    if (!applies.includes(platform))
      return {
        kind: 'problem',
        message: `filter.${name}: it applies to ${applies.join(' and ')}, not to ${platform}.`,
      };
    const make = Object.hasOwn(tests, name) ? tests[name as FilterName] : undefined;
    if (make === undefined) {
      ignored.push(name);
      continue;
    }
    // The name determines the type of the value and of the filter, but the compiler cannot see that.
    const test = (make as MakeTest<FilterName>)(value as FilterValue<FilterName>, population, platform);
    if (isProblem(test)) return { kind: 'problem', message: `filter.${name}.${test.problem}.` };
    chosen.push(test);
  }
  const influencers = population
    .of(platform)
    .filter((influencer) => influencer.knownSince <= knownUntil && chosen.every((test) => test(influencer)));
  return { kind: 'found', influencers, ignored };
}
