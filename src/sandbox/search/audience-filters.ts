import { AGE_BRACKETS, type Audience, GENDERS, RACES } from './influencer.ts';
import { type FilterTests, readLikeness } from './profile-filters.ts';
import { isProblem, type Range, readCode, readWeight, type Test } from './read-filter.ts';

/** Filters by audience. An influencer whose audience is unknown matches none of them. */
export const audienceFilters = {
  audience_relevance: ({ value }, population, platform) => {
    const likes = readLikeness(value, population, platform);
    return ofAudience(({ interests }) => likes.some((like) => like(interests)));
  },
  audience_age_range: (range) => {
    const least = readWeight(range.weight);
    return ofAudience((audience) => shareOfAges(audience, range) >= least);
  },
  audience_lang: ({ code }) => {
    const wanted = code.trim().toLowerCase();
    return ofAudience(({ languages }) => isMainLanguage(languages, wanted));
  },
  audience_geo: (locations) => {
    const wanted = locations.map(({ id, weight }) => [id, readWeight(weight)] as const);
    return ofAudience(({ places }) => wanted.every(([id, least]) => (places.get(id) ?? 0) >= least));
  },
  audience_race: ({ code, weight }) => {
    const wanted = readCode(code, RACES);
    if (isProblem(wanted)) return wanted;
    const least = readWeight(weight);
    return ofAudience(({ races }) => races[wanted] >= least);
  },
  audience_gender: ({ code, weight }) => {
    const wanted = readCode(code, GENDERS);
    if (isProblem(wanted)) return wanted;
    // Without a weight, at least half of the audience.
    const least = weight === undefined ? 0.5 : readWeight(weight);
    return ofAudience(({ female }) => (wanted === 'female' ? female : 1 - female) >= least);
  },
  audience_credibility_class: (classes) => ofAudience(({ credibility }) => classes.includes(credibility)),
  has_audience_data:
    (wanted) =>
    ({ audience }) =>
      (audience !== null) === wanted,
} satisfies FilterTests;

function ofAudience(test: (audience: Audience) => boolean): Test {
  return ({ audience }) => audience !== null && test(audience);
}

/** The total share of the age brackets that lie entirely within the bounds. */
function shareOfAges({ ages }: Audience, { left_number, right_number }: Range): number {
  const least = left_number === undefined ? 0 : Number(left_number);
  const most = right_number === undefined ? Number.POSITIVE_INFINITY : Number(right_number);
  let share = 0;
  for (const [index, [from, to]] of AGE_BRACKETS.entries()) {
    if (from >= least && to <= most) share += ages[index] ?? 0;
  }
  return share;
}

/** @returns true if no other language has a larger share. */
function isMainLanguage(languages: ReadonlyMap<string, number>, wanted: string): boolean {
  const share = languages.get(wanted) ?? 0;
  if (share === 0) return false;
  for (const other of languages.values()) if (other > share) return false;
  return true;
}
