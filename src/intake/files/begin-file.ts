import { type RawBuilder, sql, type Transaction } from 'kysely';
import { IS_READ_ANEW, type ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import { agedAt, basisOf, type FileAge } from '../../core/time/file-age.ts';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { clearStaged } from './clear-staged.ts';
import { NOT_AWAITING_DISK } from './fence.ts';
import { isBack } from './select-unread.ts';

export type BeginFileOptions = {
  /** Name of the source. The caller holds its lease, so no other process reads its files. */
  readonly source: string;
  readonly file: SourceFile;
  /** Stored with the file. Unknown if omitted. */
  readonly age?: FileAge;
  readonly layout: string;
  /** Digest of the layout and of the source's settings. */
  readonly layoutHash: string;
  readonly runId: string;
  /**
   * A new random UUID for this reading. It fences off older readers of the file: what they stage or seal has
   * no effect.
   */
  readonly reader: string;
  /** Reads a held or released file again although nothing about it has changed. */
  readonly again?: boolean;
  /** Default: orders. A file that was read for one purpose is still new to the other. */
  readonly readFor?: ReadFor;
  /**
   * Removes what an earlier reading of the file left to be sent, because the file is read again under other
   * settings. Omitted if its rows wait nowhere else.
   */
  readonly withdraw?: ((trx: Transaction<DB>, sourceFileId: string) => Promise<void>) | undefined;
};

export type BegunFile =
  | { readonly kind: 'read'; readonly sourceFileId: string }
  /**
   * Nothing to do: the file's rows already count, or it is held or released for a reason that still applies.
   */
  | {
      readonly kind: 'known';
      readonly sourceFileId: string;
      readonly state: 'sealed' | 'duplicate' | 'held' | 'released';
    };

/**
 * Opens a version of a file for reading, or reports that it needs no reading. One file of a source is read at
 * a time, so rows that a dead reader of this or another file of the source left behind are cleared.
 */
export async function beginFile(db: Database, options: BeginFileOptions): Promise<BegunFile> {
  const [sourceFileId] = (await openNewFiles(db, { ...options, files: [options] })) ?? [];
  return sourceFileId === undefined ? lookAndBegin(db, options) : { kind: 'read', sourceFileId };
}

/** Files whose versions are not known. What they have in common is as in `BeginFileOptions`. */
export type NewFiles = Pick<BeginFileOptions, 'source' | 'layout' | 'layoutHash' | 'runId' | 'readFor'> & {
  readonly files: readonly Pick<BeginFileOptions, 'file' | 'age' | 'reader'>[];
};

/**
 * Opens versions that are not known, if no reading of the source was left behind. Nearly every file is one,
 * and a source may have thousands of small files, so this takes one statement and no transaction.
 * If another reader is about to commit one of these versions, it waits, and then leaves the file to be looked at.
 * Its commit does not wait for the disk: Postgres writes commits in their order, so no row of a file is kept
 * without its beginning, and a file whose beginning was lost is new to the next run.
 *
 * @returns their ids, in their order. Null if one of the files must be looked at, or another one taken over; several
 * files may then have been opened in part, so the caller rolls back.
 */
export async function openNewFiles(
  db: Database,
  { source, layout, layoutHash, runId, readFor = 'orders', files }: NewFiles,
): Promise<readonly string[] | null> {
  const texts = (of: (one: NewFiles['files'][number]) => string | null | undefined) =>
    toTextArrayParameter(files.map((one) => of(one) ?? null));
  const opened = await rowsOf<{ sourceFileId: string }>(db)`
    with columns as materialized (
      select ${texts(({ file }) => file.uri)}::text[] as uris,
        ${texts(({ file }) => file.version)}::text[] as versions,
        ${toArrayParameter(files.map(({ file }) => file.sizeBytes))}::bigint[] as sizes,
        ${texts(({ reader }) => reader)}::uuid[] as readers,
        ${texts(({ file }) => file.modifiedAt?.toISOString())}::timestamptz[] as modified,
        ${texts(({ age }) => age && agedAt(age)?.toISOString())}::timestamptz[] as ages,
        ${texts(({ age }) => age && basisOf(age))}::text[] as bases
    ),
    given as materialized (
      select g.* from columns cross join lateral unnest(uris, versions, sizes, readers, modified, ages, bases)
        with ordinality as g(uri, version, size_bytes, reader, ${AGE_COLUMNS}, place)
    ),
    opened as (
      insert into intake.source_files (source, read_for, uri, version, size_bytes, layout, layout_hash, state,
        reader, run_id, ${AGE_COLUMNS})
      select ${source}, ${readFor}, uri, version, size_bytes, ${layout}, ${layoutHash}, 'reading', reader,
        ${runId}::bigint, ${AGE_COLUMNS}
      from given
      where ${NOT_AWAITING_DISK} = 'off'
        and not exists (
          select from given n cross join lateral (
            select 1 from intake.source_files
            where source = ${source} and read_for = ${readFor} and uri = n.uri and version = n.version
              and superseded_by is null
            limit 1) known)
        and not exists (
          select from intake.source_files
          where source = ${source} and read_for = ${readFor} and state = 'reading' and superseded_by is null)
      order by place
      on conflict do nothing
      returning source_file_id, uri, version
    )
    select o.source_file_id as "sourceFileId"
    from opened o join given g using (uri, version)
    order by g.place ${keepsPlan}`;
  return opened.length === files.length ? opened.map(({ sourceFileId }) => sourceFileId) : null;
}

function lookAndBegin(db: Database, options: BeginFileOptions): Promise<BegunFile> {
  return inTransaction(db, async (trx) => {
    const known = await lockFile(trx, options);
    if (known !== null) {
      const { source_file_id: sourceFileId, state } = known;
      if (!isToBeRead(known, options) && state !== 'reading') return { kind: 'known', sourceFileId, state };
    }
    await takeOver(trx, options);
    if (known !== null && isOutdated(known, options)) await options.withdraw?.(trx, known.source_file_id);
    if (known?.state === 'sealed' || known?.state === 'duplicate')
      return { kind: 'read', sourceFileId: await supersede(trx, options, known.source_file_id) };
    return { kind: 'read', sourceFileId: await open(trx, options, known?.source_file_id ?? null) };
  });
}

/** The same rules as in `selectUnread`, plus files that a run requests by name. */
function isToBeRead(known: KnownFile, options: BeginFileOptions): boolean {
  if (known.is_reread_wanted || known.is_back || isOutdated(known, options)) return true;
  const { layoutHash, again = false } = options;
  if (known.state === 'held') return known.layout_hash !== layoutHash || known.hold_is_transient || again;
  return known.state === 'released' && (!known.is_released_by_person || again);
}

/** Opens a new row for another reading. The previous reading stays in force until the new one is sealed. */
async function supersede(
  trx: Transaction<DB>,
  options: BeginFileOptions,
  sourceFileId: string,
): Promise<string> {
  // First point the row at itself: the new row has no number yet, and no two rows of a version may both be
  // the latest.
  const latest = trx.updateTable('intake.source_files').where('source_file_id', '=', sourceFileId);
  await latest.set({ superseded_by: sourceFileId }).execute();
  const newId = await open(trx, options, null);
  await latest.set({ superseded_by: newId }).execute();
  return newId;
}

/** True if the file was read under other settings and must be read again because of that. */
function isOutdated(known: KnownFile, { readFor = 'orders', layoutHash }: BeginFileOptions): boolean {
  const isRead = known.state === 'sealed' || known.state === 'duplicate';
  return isRead && IS_READ_ANEW[readFor] && known.layout_hash !== layoutHash;
}

type KnownFile = {
  source_file_id: string;
  state: 'reading' | 'sealed' | 'held' | 'duplicate' | 'released';
  layout_hash: string;
  hold_is_transient: boolean;
  is_released_by_person: boolean;
  is_reread_wanted: boolean;
  is_back: boolean;
};

async function lockFile(
  trx: Transaction<DB>,
  { source, file, readFor = 'orders' }: BeginFileOptions,
): Promise<KnownFile | null> {
  const known = await rowOf<KnownFile>(trx)`
    select source_file_id, state, layout_hash, hold_is_transient,
      released_by is not null as is_released_by_person,
      reread_at is not null as is_reread_wanted, ${isBack('k')} as is_back
    from intake.source_files k
    where source = ${source} and read_for = ${readFor} and uri = ${file.uri} and version = ${file.version}
      and superseded_by is null
    for update`;
  return known ?? null;
}

/**
 * Fences off readers that died or lost their lease by changing the reader's id. Then clears what they had
 * staged.
 */
async function takeOver(trx: Transaction<DB>, { source, readFor = 'orders' }: BeginFileOptions) {
  const rows = await rowsOf<{ source_file_id: string }>(trx)`
    update intake.source_files set reader = gen_random_uuid()
    where source = ${source} and read_for = ${readFor} and state = 'reading' and superseded_by is null
    returning source_file_id`;
  for (const row of rows) await clearStaged(trx, row.source_file_id);
}

/** The columns that say how old a file is, in the order of `ageValues`. */
const AGE_COLUMNS = sql`modified_at, aged_at, age_basis`;

function ageValues({ modifiedAt }: SourceFile, age: FileAge | undefined): RawBuilder<unknown> {
  const [since, basis] = age === undefined ? [null, null] : [agedAt(age), basisOf(age)];
  return sql`${modifiedAt ?? null}::timestamptz, ${since}::timestamptz, ${basis}::text`;
}

async function open(
  trx: Transaction<DB>,
  options: BeginFileOptions,
  sourceFileId: string | null,
): Promise<string> {
  const { source, file, age, layout, layoutHash, runId, reader, readFor = 'orders' } = options;
  const { rows } = await (sourceFileId === null
    ? sql<{ source_file_id: string }>`
        insert into intake.source_files (source, read_for, uri, version, size_bytes, layout, layout_hash,
          state, reader, run_id, ${AGE_COLUMNS})
        values (${source}, ${readFor}, ${file.uri}, ${file.version}, ${file.sizeBytes}, ${layout},
          ${layoutHash}, 'reading',
                ${reader}::uuid, ${runId}::bigint, ${ageValues(file, age)})
        returning source_file_id`
    : sql<{ source_file_id: string }>`
        update intake.source_files
        set state = 'reading', reader = ${reader}::uuid, (${AGE_COLUMNS}) = row(${ageValues(file, age)}),
          layout = ${layout}, layout_hash = ${layoutHash}, run_id = ${runId}::bigint,
            hold_code = null, hold_message = null, hold_help = null, hold_is_transient = false,
            rows_read = null, content_sha256 = null,
            released_at = null, released_by = null, release_reason = null, reread_at = null, reread_by = null
        where source_file_id = ${sourceFileId}::bigint returning source_file_id`
  ).execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('a file could not be opened');
  return row.source_file_id;
}
