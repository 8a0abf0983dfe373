/** First names of the fictional population, with their gender. They refer to no real person. */
export const FIRST_NAMES: readonly (readonly [name: string, gender: 'male' | 'female'])[] = [
  ...wordsOf('Ada Alma Bea Carla Dina Elin Fleur Greta Hana Ines Juna Kaya Liv Meera Noor Olga').map(
    (name) => [name, 'female'] as const,
  ),
  ...wordsOf('Aron Bram Cem Dario Emil Finn Goran Hugo Ivo Jonah Kenji Levi Milo Nico').map(
    (name) => [name, 'male'] as const,
  ),
];

export const LAST_NAMES = wordsOf(
  'Abel Bakker Costa Dahl Ekman Ferro Graf Hayes Ito Jansen Keller Lund Mori Nash Orsini Pires Quist Rao Silva Tekin Unger Vega Wolf Yilmaz',
) as [string, ...string[]];

function wordsOf(text: string): readonly string[] {
  return text.split(' ');
}

/** Topics, each with words that appear in posts about it. */
export const TOPICS: readonly (readonly [topic: string, ...words: readonly string[]])[] = [
  ['skincare', 'serum', 'routine', 'glow', 'sunscreen'],
  ['makeup', 'lipstick', 'palette', 'tutorial', 'blush'],
  ['fashion', 'outfit', 'thrift', 'denim', 'lookbook'],
  ['fitness', 'workout', 'squat', 'protein', 'stretch'],
  ['yoga', 'flow', 'breath', 'balance', 'mat'],
  ['running', 'marathon', 'trail', 'sneakers', 'pace'],
  ['cooking', 'recipe', 'sauce', 'dinner', 'oven'],
  ['baking', 'sourdough', 'cake', 'flour', 'whisk'],
  ['coffee', 'espresso', 'beans', 'latte', 'brew'],
  ['travel', 'flight', 'hostel', 'itinerary', 'passport'],
  ['hiking', 'summit', 'boots', 'camp', 'ridge'],
  ['gaming', 'speedrun', 'console', 'stream', 'quest'],
  ['tech', 'laptop', 'review', 'battery', 'gadget'],
  ['books', 'novel', 'chapter', 'library', 'author'],
  ['music', 'guitar', 'cover', 'concert', 'studio'],
  ['dance', 'choreography', 'rehearsal', 'stage', 'rhythm'],
  ['parenting', 'toddler', 'bedtime', 'stroller', 'school'],
  ['pets', 'puppy', 'kitten', 'vet', 'treats'],
  ['home', 'interior', 'shelf', 'paint', 'renovation'],
  ['garden', 'seeds', 'compost', 'bloom', 'harvest'],
  ['finance', 'savings', 'budget', 'index', 'pension'],
  ['photography', 'lens', 'portrait', 'darkroom', 'exposure'],
  ['art', 'canvas', 'sketch', 'gallery', 'clay'],
  ['cars', 'engine', 'garage', 'roadtrip', 'tuning'],
];

export const BIO_OPENINGS = [
  'Living for',
  'Daily',
  'All about',
  'Notes on',
  'Learning',
  'Obsessed with',
] as const;

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
