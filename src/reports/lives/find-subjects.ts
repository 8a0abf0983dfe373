import { sql } from 'kysely';
import { fileName } from '../../core/text/file-name.ts';
import { foldCode, foldHandle } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { Database } from '../../db/connect.ts';
import { listFilesRead } from '../files/list-files.ts';
import { findDeal, listDealMonths } from '../list-deals.ts';
import { findRun } from '../runs/list-runs.ts';
import { readEntryLife } from './entry-lives.ts';
import { findOrders } from './explain-order.ts';

/** What an id can be, in the order in which they are shown. */
export const SUBJECT_KINDS = [
  'order',
  'entry',
  'customer',
  'creator',
  'deal',
  'code',
  'file',
  'run',
] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/** Something that has an id. */
export type Subject = {
  readonly kind: SubjectKind;
  /** Its id within its kind: of a file the number of its reading, of a code its folded form. */
  readonly id: string;
  /** The source of an order; null if only the ledger knows the order. Null for the other kinds. */
  readonly source: string | null;
  readonly name: string;
};

/** Most names of files that contain the text; those that are called otherwise are left out. */
const FILES = 200;

const isNumber = (text: string): boolean => /^\d{1,18}$/.test(text);

type Find = (
  db: Database,
  text: string,
) => Promise<readonly (Omit<Subject, 'kind' | 'source'> & { source?: string | null })[]>;

const FINDERS: Readonly<Record<SubjectKind, Find>> = {
  async order(db, text) {
    const found = await findOrders(db, { order: text });
    return found.map(({ source, orderId, orderName }) => ({
      id: orderId,
      source,
      name: orderName ?? orderId,
    }));
  },
  async entry(db, text) {
    const life = isNumber(text) ? await readEntryLife(db, text) : null;
    return life === null ? [] : [{ id: text, name: life.subject }];
  },
  async customer(db, text) {
    if (!/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)) return [];
    const { rows } = await sql<{ id: string }>`
      select customer_hash::text as id from intake.customer_states where customer_hash = ${text}::uuid limit 1`.execute(
      db,
    );
    return rows.map(({ id }) => ({ id, name: id }));
  },
  async creator(db, text) {
    const folded = foldHandle(text);
    if (folded === '') return [];
    const { rows } = await sql<{ name: string }>`
      select min(influencer_handle) as name from (
        select influencer_handle from mirror.deal_versions where is_latest and lower(ltrim(influencer_handle, '@')) = ${folded}
        union all select influencer_handle from intake.codes where handle_folded = ${folded}
      ) known having count(*) > 0`.execute(db);
    return rows.map(({ name }) => ({ id: folded, name }));
  },
  async deal(db, text) {
    const isKnown =
      (await findDeal(db, text)) !== null ||
      (await listDealMonths(db, { dealId: text, limit: 1 })).length > 0;
    return isKnown ? [{ id: text, name: text }] : [];
  },
  async code(db, text) {
    const folded = foldCode(text);
    if (folded === '') return [];
    const { rows } = await sql<{ name: string }>`
      select min(code) as name from (
        select code from intake.codes where code_folded = ${folded}
        union all select code from reporting.code_days where code_folded = ${folded} and carried_as = 'code'
        union all select code_folded from reporting.code_use_days where code_folded = ${folded}
      ) known having count(*) > 0`.execute(db);
    return rows.map(({ name }) => ({ id: folded, name }));
  },
  async file(db, text) {
    const found = await listFilesRead(db, { name: text, limit: FILES });
    return found
      .filter(({ uri }) => uri === text || fileName(uri) === text)
      .map(({ sourceFileId, uri }) => ({ id: sourceFileId, name: uri }));
  },
  async run(db, text) {
    const run = isNumber(text) ? await findRun(db, text) : null;
    return run === null ? [] : [{ id: run.runId, name: `${run.job} ${run.runId}` }];
  },
};

/**
 * Finds everything with an id: an order by its id or name, an entry of the ledger, a customer by the key that stands for the
 * address, a creator by the handle, a deal, a code, a file by its name or address, a run. Case matters for ids of orders and deals.
 *
 * @param kinds the kinds to look for.
 */
export async function findSubjects(
  db: Database,
  text: string,
  kinds: readonly SubjectKind[] = SUBJECT_KINDS,
): Promise<readonly Subject[]> {
  const found: Subject[] = [];
  for (const kind of kinds)
    for (const one of await FINDERS[kind](db, text))
      found.push({ source: null, ...one, name: maskAddresses(one.name), kind });
  return found;
}
