import { type RawBuilder, sql } from 'kysely';
import { fileName } from '../../core/text/file-name.ts';
import { foldCode } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import { listFilesRead } from '../files/list-files.ts';
import { findHandles } from '../find-handles.ts';
import { findRun } from '../runs/list-runs.ts';
import { readEntryLife } from './entry-lives.ts';
import { findOrders } from './explain-order.ts';

export type Subject = Required<Found> & { readonly kind: SubjectKind };

/** Something that an id can mean. */
type Found = {
  /** Its id within its kind: of a file the number of its reading, of a code or creator the folded form. */
  readonly id: string;
  /** The source of an order; null if only the ledger knows the order. Null for the other kinds. */
  readonly source?: string | null;
  readonly name: string;
  /** What tells it from others of its name: the owner of a code (null if nobody owns it), the creator of a deal, … */
  readonly note?: string | null;
};

/** Most names of files that contain the text; those that are called otherwise are left out. */
const FILES = 200;

const isNumber = (text: string): boolean => /^\d{1,18}$/.test(text);

/**
 * Finds what has exactly this id or name, or up to a number of those with a part of it. If no other kind is looked for
 * (`isOnly`), by what it belongs to, too.
 */
type Find = (
  db: Database,
  text: string,
  partsUpTo: number | null,
  isOnly: boolean,
) => Promise<readonly Found[]>;

/** What an id can be, in the order in which it is shown, and how it is found. */
const FINDERS = {
  // There may be millions, so a search finds them by their whole id or name only.
  async order(db, text, partsUpTo) {
    const found = await findOrders(db, { order: text, isWhole: partsUpTo !== null });
    return found.map(({ source, orderId, orderName }) => ({
      id: orderId,
      source,
      name: orderName ?? orderId,
      note: source,
    }));
  },
  async entry(db, text) {
    const life = isNumber(text) ? await readEntryLife(db, text) : null;
    return life === null ? [] : [{ id: text, name: life.subject }];
  },
  async customer(db, text) {
    if (!/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)) return [];
    const rows = await rowsOf<{ id: string }>(db)`
      select customer_hash::text as id from intake.customer_states where customer_hash = ${text}::uuid limit 1`;
    return rows.map(({ id }) => ({ id, name: id }));
  },
  async creator(db, text, partsUpTo) {
    const found = await findHandles(db, text, { partsUpTo });
    return found.map(({ folded, spellings }) => ({ id: folded, name: spellings[0] ?? folded }));
  },
  async deal(db, text, partsUpTo, isOnly) {
    const isFound =
      partsUpTo === null
        ? sql`deal_id = ${text}`
        : sql`(starts_with(upper(deal_id), upper(${text}::text)) or ${isOnly} and starts_with(upper(influencer_handle), upper(${text}::text)))`;
    return rowsOf<Pick<Subject, 'id' | 'name' | 'note'>>(db)`
      select deal_id as id, deal_id as name, max(handle) as note from (
        select deal_id, influencer_handle as handle from mirror.deal_versions where is_latest and ${isFound}
        union all select deal_id, influencer_handle from intake.codes where ${isFound}
        union all select deal_id, influencer_handle from reporting.deal_days where deal_id = ${text}
      ) known group by deal_id order by starts_with(upper(deal_id), upper(${text}::text)) desc, deal_id
      limit ${partsUpTo}::bigint`;
  },
  async code(db, text, partsUpTo) {
    const folded = foldCode(text);
    if (folded === '') return [];
    const isFound = (code: RawBuilder<unknown>) =>
      partsUpTo === null ? sql`${code} = ${folded}` : sql`starts_with(${code}, ${folded}::text)`;
    // The codes of code_days are in capitals. Those that SQL cannot fold are in code_use_days as well.
    return rowsOf<Pick<Subject, 'id' | 'name' | 'note'>>(db)`
      select folded as id, coalesce(min(code), folded) as name, min(owner) as note from (
        select code_folded as folded, code, coalesce(influencer_handle, deal_id, collab_id) as owner
        from intake.codes
        where ${isFound(sql`code_folded`)}
        union all select lower(code_folded), code, null from reporting.code_days
        where carried_as = 'code' and ${isFound(sql`lower(code_folded)`)}
        union all select code_folded, null, null from reporting.code_use_days
        where ${isFound(sql`code_folded`)}
      ) known group by folded order by folded limit ${partsUpTo}::bigint`;
  },
  async file(db, text, partsUpTo) {
    const found = await listFilesRead(db, { name: text, limit: partsUpTo ?? FILES });
    return found
      .filter(({ uri }) => partsUpTo !== null || uri === text || fileName(uri) === text)
      .map(({ sourceFileId, uri, source, state }) => ({
        id: sourceFileId,
        name: uri,
        note: `${source}, ${state}`,
      }));
  },
  async run(db, text) {
    const run = isNumber(text) ? await findRun(db, text) : null;
    return run === null ? [] : [{ id: run.runId, name: `${run.job} ${run.runId}`, note: run.job }];
  },
} satisfies Readonly<Record<string, Find>>;

export type SubjectKind = keyof typeof FINDERS;
export const SUBJECT_KINDS = Object.keys(FINDERS) as readonly SubjectKind[];

/**
 * How the id of a deal is written, of which a person may write the letters in another case. The text itself if none is
 * known.
 */
export async function spellDeal(db: Database, text: string): Promise<string> {
  const ofCase = async (partsUpTo: number | null) =>
    (await FINDERS.deal(db, text, partsUpTo, false)).find(({ id }) => id.toUpperCase() === text.toUpperCase())
      ?.id;
  return (await ofCase(null)) ?? (await ofCase(5)) ?? text;
}

/** The id of the only brand that is called so, in either case. The text itself if it is an id, or if none or several are. */
export async function spellBrand(db: Database, text: string): Promise<string> {
  const found = await rowsOf<{ id: string }>(db)`
    select brand_id as id from bi.brands where brand_id = ${text} or lower(brand_name) = lower(${text}::text)`;
  const [only, ...others] = found;
  return only === undefined || others.length > 0 ? text : only.id;
}

/**
 * Finds everything with an id: an order by its id or name, an entry of the ledger, a customer by the key that stands for the
 * address, a creator by the handle, a deal, a code, a file by its name or address, a run. Case matters for ids of
 * orders and deals.
 *
 * @param options.kinds the kinds to look for.
 * @param options.partsUpTo finds up to this number of creators and files that contain the text, and of deals and codes
 *   that begin with it (deals also by the creator's handle, if only deals are looked for), in either case; null for
 *   those that are called so.
 */
export async function findSubjects(
  db: Database,
  text: string,
  {
    kinds = SUBJECT_KINDS,
    partsUpTo = null,
  }: { kinds?: readonly SubjectKind[]; partsUpTo?: number | null } = {},
): Promise<readonly Subject[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const find: Find = FINDERS[kind];
      const all = await find(db, text, partsUpTo, kinds.length === 1);
      return all.map((one) => ({ source: null, note: null, ...one, kind, name: maskAddresses(one.name) }));
    }),
  );
  return found.flat();
}
