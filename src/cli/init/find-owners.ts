import { foldCode, foldHandle } from '../../core/text/fold.ts';
import { openDealAnswer, readDealAnswer } from '../../mirror/read-deal-answer.ts';
import { autocomplete, getDealDetails } from '../../service/account.ts';
import { ApiError } from '../../service/api-error.ts';
import type { Client } from '../../service/client.ts';
import { LIKE_CODE } from './recognise/column-values.ts';
import type { CodeFound } from './recognise/preview-orders.ts';

/** The owner of a code: according to the deals of the service, or to a person. */
export type CodeOwner = {
  readonly code: string;
  readonly handle: string | null;
  /** Empty if only the handle is known. */
  readonly dealId: string;
  readonly brandId: string | null;
};

/** Somebody who may own a code, for a person to confirm. */
export type ProposedOwner = CodeOwner & { readonly evidence: string };

export type FoundOwners = {
  /** Owners of codes that exactly one influencer's deals have. */
  readonly owners: readonly CodeOwner[];
  /** Of the other codes, the most likely first for each. */
  readonly proposals: readonly ProposedOwner[];
  /** Number of codes that were not looked up: there are too many, or the service did not answer. */
  readonly left: number;
  /** Why the service did not answer. */
  readonly fault: string | null;
};

/** Maximum number of codes to look up (those with the highest revenue), and of requests to send. */
const MAX_CODES = 40;
const MAX_REQUESTS = 120;
/** Fewer letters would match half the account. */
const MIN_LETTERS = 3;
/** Maximum number of proposals for a code. */
const MAX_PROPOSALS = 3;

/**
 * Finds the deals whose codes appear in orders. The service has no operation to look up a code. So deals are
 * searched by the letters with which a code begins (MIRA10: mira). A deal that has exactly that code shows the owner,
 * unless another influencer's deal has it, too. A handle that begins like the code is only a proposal.
 */
export async function findOwners(client: Client, codes: readonly CodeFound[]): Promise<FoundOwners> {
  const deals = new Map<string, Deal>();
  const searched = new Set<string>();
  const wanted = new Map(codes.slice(0, MAX_CODES).map(({ code }) => [foldCode(code), code]));
  let requests = 0;
  let asked = 0;
  let fault: string | null = null;
  try {
    for (const folded of wanted.keys()) {
      if (requests >= MAX_REQUESTS) break;
      const letters = lettersOf(folded);
      if (letters.length >= MIN_LETTERS && !searched.has(letters)) {
        searched.add(letters);
        requests += 1;
        for (const dealId of dealIdsOf(await autocomplete(client, letters))) {
          if (deals.has(dealId) || requests >= MAX_REQUESTS) continue;
          requests += 1;
          deals.set(dealId, await readDeal(client, dealId));
        }
      }
      asked += 1;
    }
  } catch (error) {
    // Owners are optional: without them, a person fills them in.
    if (!(error instanceof ApiError)) throw error;
    fault = error.message;
  }
  const owners: CodeOwner[] = [];
  const proposals: ProposedOwner[] = [];
  for (const [folded, code] of wanted) {
    const having = [...deals.values()].filter(({ codes: own }) =>
      own.some((one) => foldCode(one) === folded),
    );
    const [first] = having;
    if (first !== undefined && new Set(having.map(ownerOf)).size === 1) owners.push(toOwner(code, first));
    else
      proposals.push(
        ...[
          ...having.map((deal) => ({
            ...toOwner(code, deal),
            evidence: 'one of several deals with this code',
          })),
          ...[...deals.values()]
            // The cell `MIRA10 & JONAS15` belongs to nobody, although it begins like one of them.
            .filter((deal) => having.length === 0 && LIKE_CODE.test(code) && isAlike(deal, folded))
            .map((deal) => ({ ...toOwner(code, deal), evidence: evidenceOf(deal) })),
        ].slice(0, MAX_PROPOSALS),
      );
  }
  return { owners, proposals, left: codes.length - asked, fault };
}

/** Deals that are read to see whether one has a handle. */
const DEALS_OF_HANDLE = 10;

/**
 * Finds the handles that no deal of the account has, each with those of deals that are spelled alike. None if the service
 * does not answer: nothing is known then.
 */
export async function findUnknownHandles(
  client: Client,
  handles: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const unknown = new Map<string, readonly string[]>();
  const search = async (text: string): Promise<readonly string[]> => {
    const ids = dealIdsOf(await autocomplete(client, text)).slice(0, DEALS_OF_HANDLE);
    const deals = await Promise.all(ids.map((dealId) => readDeal(client, dealId)));
    return [...new Set(deals.flatMap(({ handle }) => handle ?? []))];
  };
  try {
    for (const handle of handles) {
      const isIn = (found: readonly string[]): boolean =>
        found.some((one) => foldHandle(one) === foldHandle(handle));
      const found = await search(handle);
      if (isIn(found)) continue;
      const letters = lettersOf(foldHandle(handle)).slice(0, MIN_LETTERS + 1);
      const alike = [...found, ...(letters.length < MIN_LETTERS ? [] : await search(letters))];
      if (!isIn(alike)) unknown.set(handle, [...new Set(alike)].slice(0, MAX_PROPOSALS));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return unknown;
}

type Deal = Omit<CodeOwner, 'code'> & { readonly codes: readonly string[] };

function toOwner(code: string, { handle, dealId, brandId }: Deal): CodeOwner {
  return { code, handle, dealId, brandId };
}

/** Who has a deal: two deals of one influencer have one owner. */
function ownerOf({ handle, dealId }: Deal): string {
  return handle === null ? dealId : foldHandle(handle);
}

/** The letters with which a code begins. */
function lettersOf(folded: string): string {
  return /^\p{L}+/u.exec(folded)?.[0] ?? '';
}

function isAlike({ handle }: Deal, folded: string): boolean {
  const letters = lettersOf(folded);
  return letters.length >= MIN_LETTERS && foldHandle(handle ?? '').startsWith(letters);
}

function evidenceOf({ codes }: Deal): string {
  return `the handle begins like the code${codes.length === 0 ? '' : `; its deal has ${codes.join(' and ')}`}`;
}

function dealIdsOf(records: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return records.flatMap(({ deal_id: dealId, id }) => {
    const found = dealId ?? id;
    return typeof found === 'string' && found !== '' ? [found] : [];
  });
}

/** Reads one deal with the codes of its collaborations. */
async function readDeal(client: Client, dealId: string): Promise<Deal> {
  const details = await getDealDetails(client, { dealId });
  const deal = { dealId, handle: details.influencerHandle, brandId: details.brandId };
  const opened = openDealAnswer(JSON.stringify(details.raw));
  const answer = 'body' in opened ? readDealAnswer(opened, dealId) : opened;
  // An answer about another deal says nothing about this one.
  if (!('deal' in answer)) return { ...deal, handle: null, codes: [] };
  return { ...deal, codes: (answer.collaborations ?? []).flatMap(({ fields }) => fields.code || []) };
}
