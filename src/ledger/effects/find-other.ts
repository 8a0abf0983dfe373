import { isObject, numberText } from '../../core/json/exact-json.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Members of requests that state what is asked, for whom, and how much: ids and figures. The deal and the collaboration
 * are compared with what the answer accepts (`readAnswer`).
 */
const EXACT = [
  'brand_id',
  'dealflow_id',
  'outreach_id',
  'influencer_ids',
  'order_id',
  'order_revenue',
  'increase_clicks',
  'code_perc',
  'commission_perc',
];
/** Names, whose case does not matter. */
const NAMES = [
  'influencer_handle',
  'platform',
  'order_platform',
  'currency',
  'country_code',
  'code',
  'influencer_email',
  'influencer_list',
];

/**
 * Finds a member that an answer, or an object in it, repeats from its request with another value: the answer is then about
 * something else than was asked.
 *
 * @returns its name; null if there is none.
 */
export function findOther(asked: Members, answer: Members): string | null {
  const parts = [answer, ...Object.values(answer).filter(isObject)];
  const other = (names: readonly string[], isDifferent: typeof isOther) =>
    names.find((name) => parts.some((part) => isDifferent(asked[name], part[name])));
  return other(EXACT, isOther) ?? other(NAMES, isOtherName) ?? null;
}

/**
 * True if both ids or figures are known and differ. The service takes the address of a deal for its id, and a number may
 * be text.
 */
export function isOther(asked: unknown, said: unknown): boolean {
  return differ(asked, said, (text) =>
    // As many digits as a number keeps: 100.50 is 100.5.
    /^-?\d{1,10}\.\d{1,5}$/.test(text) ? String(Number(text)) : lastPart(text).replace(/^#/, ''),
  );
}

function isOtherName(asked: unknown, said: unknown): boolean {
  return differ(asked, said, (text) => lastPart(text).replace(/^@/, '').toLowerCase());
}

/** A list names others if it has an item that was not asked for. What is neither text nor a number names nothing. */
function differ(asked: unknown, said: unknown, fold: (text: string) => string): boolean {
  if (asked === undefined || said === undefined) return false;
  const written = (value: unknown) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => {
      const text = typeof one === 'string' ? one.normalize('NFC').trim() : (numberText(one) ?? '');
      return text === '' ? [] : [fold(text)];
    });
  const own = new Set(written(asked));
  return own.size > 0 && written(said).some((one) => !own.has(one));
}

function lastPart(id: string): string {
  const path = /^https?:/i.test(id) ? (URL.parse(id)?.pathname ?? '') : '';
  return path.split('/').findLast((part) => part !== '') ?? id;
}
