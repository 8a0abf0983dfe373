/** A place as `GET /v1/search/locations` lists it. Ids are the sandbox's own. */
export type Place = {
  readonly id: number;
  readonly name: string;
  readonly type: 'country' | 'city';
  /** Id of the country; for a country, its own id. */
  readonly countryId: number;
  readonly country: string;
  /** The language of most people there. */
  readonly language: string;
};

/**
 * Countries with name, language and cities. A country's id is 1000 plus 100 times its index; the ids of its
 * cities follow.
 */
const COUNTRIES: readonly (readonly [country: string, language: string, ...cities: readonly string[]])[] = [
  ['United States', 'en', 'New York', 'Los Angeles', 'Chicago', 'Austin', 'Miami'],
  ['United Kingdom', 'en', 'London', 'Manchester', 'Bristol'],
  ['Germany', 'de', 'Berlin', 'Hamburg', 'Munich'],
  ['France', 'fr', 'Paris', 'Lyon', 'Nantes'],
  ['Spain', 'es', 'Madrid', 'Barcelona', 'Valencia'],
  ['Italy', 'it', 'Rome', 'Milan', 'Turin'],
  ['Netherlands', 'nl', 'Amsterdam', 'Rotterdam', 'Utrecht'],
  ['Belgium', 'nl', 'Brussels', 'Antwerp', 'Ghent'],
  ['Portugal', 'pt', 'Lisbon', 'Porto'],
  ['Brazil', 'pt', 'São Paulo', 'Rio de Janeiro', 'Recife'],
  ['Mexico', 'es', 'Mexico City', 'Guadalajara', 'Monterrey'],
  ['Poland', 'pl', 'Warsaw', 'Kraków', 'Gdańsk'],
  ['Sweden', 'sv', 'Stockholm', 'Gothenburg'],
  ['Turkey', 'tr', 'Istanbul', 'Izmir'],
  ['India', 'hi', 'Mumbai', 'Delhi', 'Bengaluru'],
  ['Japan', 'ja', 'Tokyo', 'Osaka'],
  ['Australia', 'en', 'Sydney', 'Melbourne'],
  ['Canada', 'en', 'Toronto', 'Montreal', 'Vancouver'],
];

/** Lists all places, each country before its cities. */
export function listPlaces(): readonly Place[] {
  return COUNTRIES.flatMap(([country, language, ...cities], row) => {
    const countryId = 1000 + row * 100;
    return [country, ...cities].map((name, index): Place => {
      const type = index === 0 ? 'country' : 'city';
      return { id: countryId + index, name, type, countryId, country, language };
    });
  });
}

/** Lists the languages of influencers and audiences. */
export function listLanguages(): readonly string[] {
  return [...new Set(COUNTRIES.map(([, language]) => language))];
}

/** Folds text to lower case without accents, so that `sao paulo` finds São Paulo. */
export function foldText(text: string): string {
  const isPlain = /^[ -~]*$/.test(text);
  const bare = isPlain ? text : text.normalize('NFD').replace(/\p{M}/gu, '');
  return bare.toLowerCase().trim();
}
