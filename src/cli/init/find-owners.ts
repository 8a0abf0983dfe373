import { foldCode } from '../../core/text/fold.ts';
import { openDealAnswer, readDealAnswer } from '../../mirror/read-deal-answer.ts';
import { autocomplete, getDealDetails } from '../../service/account.ts';
import { ApiError } from '../../service/api-error.ts';
import type { Client } from '../../service/client.ts';
import type { CodeFound } from './recognise/preview-orders.ts';

/** The owner of a code, according to the service's deals. */
export type CodeOwner = {
  readonly code: string;
  readonly handle: string | null;
  readonly dealId: string;
  readonly brandId: string | null;
};

/** Maximum number of codes to look up (those with the highest revenue), and of requests to send. */
const MAX_CODES = 40;
const MAX_REQUESTS = 120;
/** Fewer letters would match half the account. */
const MIN_LETTERS = 3;

/**
 * Finds the deals whose codes appear in orders. The service has no operation to look up a code. So deals are
 * searched by the letters with which a code begins (MIRA10: mira), and a deal counts only if it has exactly
 * that code. A code that is not found has no owner in the result.
 */
export async function findOwners(client: Client, codes: readonly CodeFound[]): Promise<readonly CodeOwner[]> {
  const owners = new Map<string, CodeOwner>();
  const read = new Set<string>();
  const searched = new Set<string>();
  let requests = 0;
  const wanted = new Map(codes.slice(0, MAX_CODES).map(({ code }) => [foldCode(code), code]));
  try {
    for (const [folded] of wanted) {
      const [letters = ''] = /^\p{L}+/u.exec(folded) ?? [];
      if (owners.has(folded) || letters.length < MIN_LETTERS || searched.has(letters)) continue;
      searched.add(letters);
      requests += 1;
      for (const dealId of dealIdsOf(await autocomplete(client, letters))) {
        if (read.has(dealId) || requests >= MAX_REQUESTS) continue;
        read.add(dealId);
        requests += 1;
        for (const owner of await codesOf(client, dealId)) {
          const code = wanted.get(foldCode(owner.code));
          if (code !== undefined) owners.set(foldCode(code), { ...owner, code });
        }
      }
      if (requests >= MAX_REQUESTS) break;
    }
  } catch (error) {
    // Owners are optional: without them, a person fills them in.
    if (!(error instanceof ApiError)) throw error;
  }
  return [...wanted.keys()].flatMap((folded) => owners.get(folded) ?? []);
}

function dealIdsOf(records: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return records.flatMap(({ deal_id: dealId, id }) => {
    const found = dealId ?? id;
    return typeof found === 'string' && found !== '' ? [found] : [];
  });
}

/** Reads the codes of one deal's collaborations. */
async function codesOf(client: Client, dealId: string): Promise<readonly CodeOwner[]> {
  const details = await getDealDetails(client, { dealId });
  const opened = openDealAnswer(JSON.stringify(details.raw));
  if (!('body' in opened)) return [];
  const answer = readDealAnswer(opened, dealId);
  if (!('deal' in answer)) return [];
  return (answer.collaborations ?? []).flatMap(({ fields }) =>
    fields.code !== undefined && fields.code !== ''
      ? [{ code: fields.code, handle: details.influencerHandle, dealId, brandId: details.brandId }]
      : [],
  );
}
