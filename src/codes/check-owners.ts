import { setTimeout as sleep } from 'node:timers/promises';
import type { CodeProblem } from '../core/report.ts';
import { foldCode, foldHandle } from '../core/text/fold.ts';
import { openDealAnswer, readDealAnswer } from '../mirror/read-deal-answer.ts';
import { getDealDetails, searchBrands } from '../service/account.ts';
import { ApiError } from '../service/api-error.ts';
import type { Client } from '../service/client.ts';
import type { CodeRow } from './parse-codes.ts';

/** What the service knows about the codes of a list. */
export type OwnersChecked = {
  /** Owners and brands that the service does not know, or that contradict each other. */
  readonly problems: readonly CodeProblem[];
  /** Codes that differ from the codes of their deal at the service. They may still be correct. */
  readonly warnings: readonly CodeProblem[];
  /** Number of rows whose owner the service knows. */
  readonly known: number;
  /**
   * Number of rows that were not checked, because of the request limit or because only the mirror knows
   * collaborations.
   */
  readonly unchecked: number;
};

export type CheckOwnersOptions = {
  readonly brandId: string;
  readonly maxRequests: number;
  /** 0 means as fast as the service answers. */
  readonly requestsPerSecond: number;
};

type Deal = {
  readonly handle: string | null;
  readonly brandId: string | null;
  readonly codes: readonly string[];
};

/**
 * Checks each owner once with the service.
 *
 * @throws ApiError if the service does not answer or refuses the key.
 */
export async function checkOwners(
  client: Client,
  rows: readonly CodeRow[],
  { brandId, maxRequests, requestsPerSecond }: CheckOwnersOptions,
): Promise<OwnersChecked> {
  const brands = new Set((await searchBrands(client)).map(({ id }) => id));
  const deals = new Map<string, Deal | null>();
  const problems: CodeProblem[] = [];
  const warnings: CodeProblem[] = [];
  let requests = 0;
  let known = 0;
  let unchecked = 0;
  for (const row of rows) {
    const brand = row.brandId ?? brandId;
    if (!brands.has(brand)) {
      problems.push(unknown(row, 'brand_id', brand, 'The account has no such brand.'));
      continue;
    }
    const key =
      row.dealId ?? (row.collabId === null && row.handle !== null ? `@${foldHandle(row.handle)}` : null);
    if (key === null || (!deals.has(key) && requests >= maxRequests)) {
      unchecked += 1;
      continue;
    }
    if (!deals.has(key)) {
      requests += 1;
      if (requestsPerSecond > 0) await sleep(1_000 / requestsPerSecond);
      deals.set(key, await readDeal(client, row));
    }
    const deal = deals.get(key) ?? null;
    if (deal === null) {
      const [column, value] =
        row.dealId === null ? ['influencer_handle', row.handle] : ['deal_id', row.dealId];
      problems.push(unknown(row, column ?? 'deal_id', value ?? null, 'The service knows no such deal.'));
      continue;
    }
    const contradiction = contradictionOf(row, deal);
    if (contradiction !== null) problems.push(contradiction);
    else known += 1;
    if (deal.codes.length > 0 && !deal.codes.some((code) => foldCode(code) === row.folded))
      warnings.push({
        line: row.line,
        column: 'code',
        value: row.code,
        reason: `The deal has other codes at the service: ${deal.codes.slice(0, 3).join(', ')}.`,
        help: 'Check the owner. A code that exists only in the shop is fine.',
      });
  }
  return { problems, warnings, known, unchecked };
}

function contradictionOf(row: CodeRow, { handle }: Deal): CodeProblem | null {
  if (
    row.dealId === null ||
    row.handleFolded === null ||
    handle === null ||
    foldHandle(handle) === row.handleFolded
  )
    return null;
  return unknown(row, 'influencer_handle', row.handle, `The deal ${row.dealId} is that of ${handle}.`);
}

function unknown({ line }: CodeRow, column: string, value: string | null, reason: string): CodeProblem {
  return {
    line,
    column,
    value,
    reason,
    help: 'Correct the row. The service refuses orders of an unknown owner.',
  };
}

/** Null if the service has no such deal. */
async function readDeal(client: Client, { dealId, handle }: CodeRow): Promise<Deal | null> {
  try {
    const which = dealId === null ? { influencerHandle: handle ?? '' } : { dealId };
    const details = await getDealDetails(client, which);
    const opened = openDealAnswer(JSON.stringify(details.raw));
    const answer = 'body' in opened ? readDealAnswer(opened, null) : null;
    const collaborations = answer !== null && 'deal' in answer ? (answer.collaborations ?? []) : [];
    const codes = collaborations.flatMap(({ fields }) => (fields.code === undefined ? [] : [fields.code]));
    return { handle: details.influencerHandle, brandId: details.brandId, codes };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
