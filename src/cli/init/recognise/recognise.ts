import { posix } from 'node:path';
import type { PreviewedJob } from '../../../../jobs/attribute-orders/previewed-job.ts';
import { readClicks } from '../../../../jobs/post-clicks/read-clicks.ts';
import type { SourceSettings } from '../../../config/source-fields.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import { BELOW_ZERO } from '../../../core/held/held-order.ts';
import type { SourceFile } from '../../../core/source.ts';
import { fileName } from '../../../core/text/file-name.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { listSpellings, resolveHeader } from '../../../intake/layout/resolve-header.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import { listFiles } from '../../../store/list-files.ts';
import { parseSourceUri } from '../../../store/parse-source-uri.ts';
import type { SourceClients } from '../../../store/source-clients.ts';
import { isMinorUnit } from './column-names.ts';
import { type CustomersExamined, examineCustomers } from './examine-customers.ts';
import { examineOrders, type OrdersExamined } from './examine-orders.ts';
import { type Group, groupSources, type Listed, withoutPeriods } from './group-sources.ts';
import { proposeLayout, type SaidOfColumns, whyUsedAgain } from './propose-layout.ts';
import type { NoLayout, ProposedLayout } from './proposed-layout.ts';
import {
  type RecognisedFile,
  type RefusedFile,
  recogniseFile,
  subjectOf,
  type WhyRefused,
} from './recognise-file.ts';

/**
 * Files of clicks or creators. Each row is independent of the others, so their values are not examined
 * further.
 */
export type RowsExamined = {
  readonly kind: 'clicks' | 'creators';
  readonly layout: Layout;
  readonly rows: number;
  readonly isPartial: boolean;
};

/** Files that form one source of a configuration. */
export type RecognisedSource = {
  /** Key in `sources`. */
  readonly name: string;
  /** Path below the place, as `uri` needs it: a folder, or a folder and a glob. */
  readonly path: string;
  readonly place: string;
  readonly files: readonly SourceFile[];
  /** Null means UTF-8, or the encoding of the byte order marks. */
  readonly encoding: string | null;
  readonly compressed: boolean;
  /** Columns that identify the layout. */
  readonly proof: readonly string[];
  /** A proposed layout that is not stored in a file yet. Null if a known layout reads the files. */
  readonly proposed: ProposedLayout | null;
  readonly examined: OrdersExamined | CustomersExamined | RowsExamined;
};

export type Recognised = {
  readonly sources: readonly RecognisedSource[];
  readonly refused: readonly (RefusedFile & { readonly name: string })[];
  readonly skipped: number;
};

export type RecogniseOptions = SaidOfColumns & {
  /** The place to list: an absolute folder or file, or an S3 address. */
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  readonly layouts: readonly Layout[];
  /** Names that other places already use. */
  readonly taken: ReadonlySet<string>;
  /** What is known of the source of this name. */
  readonly settingsOf: (source: string) => {
    /** What a person has stated about its values. */
    readonly stated?: Pick<SourceSettings, 'dateOrder' | 'decimalMark' | 'currency' | 'timeZone'>;
    /** Why its files may lack columns that can only lower money. */
    readonly missingReason?: string | null;
    /** The settings of the job that is to read it. */
    readonly job: PreviewedJob;
  };
  /** The encoding that a person has stated for files whose bytes do not show theirs. */
  readonly assumedEncoding?: string | null;
};

/** A file with up to this number of rows is read completely, within seconds. Of larger files, the beginning is sufficient. */
export const MAX_ROWS = 200_000;

/**
 * Recognises the exports in a place: lists it as a run would, recognises each file by its header, groups the
 * files into sources, and reads their values. Stores nothing and sends nothing.
 *
 * @throws KnownError if the place cannot be listed.
 */
export async function recognise(options: RecogniseOptions): Promise<Recognised> {
  const { source, clients, layouts, assumedEncoding = null } = options;
  let skipped = 0;
  const refused: Recognised['refused'][number][] = [];
  const readable: Listed[] = [];
  const onSkipped = (): void => {
    skipped += 1;
  };
  for await (const file of listFiles(source, { clients, onSkipped })) {
    const found = await recogniseFile(file, layouts, { source, clients, assumedEncoding });
    const name = nameBelow(source.uri, file.uri);
    if ('why' in found) refused.push({ ...found, name });
    else readable.push({ ...found, name, kind: kindOf(found, found.form.encoding) });
  }
  const names = [...readable, ...refused].map(({ name }) => name);
  const groups = groupSources(withSharedEncodings(readable), names);
  const first = await examineGroups(options, groups, new Map());
  const unseen = unseenStates(first.sources, groups);
  // A state that stands only far down is part of the layout, too.
  const found = unseen.size === 0 ? first : await examineGroups(options, groups, unseen);
  return { sources: found.sources, refused: [...refused, ...found.refused], skipped };
}

/** @param moreStates words of states of each kind that the first rows do not have. */
async function examineGroups(
  options: RecogniseOptions,
  groups: readonly Group[],
  moreStates: ReadonlyMap<string, readonly string[]>,
): Promise<Pick<Recognised, 'sources' | 'refused'>> {
  const sources: RecognisedSource[] = [];
  const refused: Recognised['refused'][number][] = [];
  const taken = new Set(options.taken);
  const proposals: GroupOptions['proposals'] = new Map();
  for (const group of groups) {
    const alike = groups.filter((other) => kindOfGroup(other) === kindOfGroup(group));
    const examined = await examineGroup({ ...options, ...group, taken, alike, proposals, moreStates });
    if ('why' in examined) {
      for (const { name, file } of group.files) refused.push({ file, name, ...examined });
    } else {
      for (const name of [examined.name, examined.proposed?.layout.name ?? []].flat()) taken.add(name);
      sources.push(examined);
    }
  }
  return { sources, refused };
}

function kindOfGroup({ files: [{ kind }] }: Group): string {
  return kind;
}

/** The states that a run would hold and that the proposed layout does not list, by the kind of the files. */
function unseenStates(
  sources: readonly RecognisedSource[],
  groups: readonly Group[],
): ReadonlyMap<string, readonly string[]> {
  const unseen = new Map<string, readonly string[]>();
  for (const { proposed, examined, path } of sources) {
    const group = groups.find((one) => one.path === path);
    if (proposed === null || examined.kind !== 'orders' || group === undefined) continue;
    const listed = new Set([...proposed.unknownStates.values()].flat().map(foldWord));
    const words = examined.preview.statuses.flatMap(({ status, effect }) =>
      effect === 'held' && status !== '' && !listed.has(foldWord(status)) ? [status] : [],
    );
    const kind = kindOfGroup(group);
    if (words.length > 0) unseen.set(kind, [...(unseen.get(kind) ?? []), ...words]);
  }
  return unseen;
}

/** Files of one kind have the same layout or, if the layout is unknown, the same header. */
function kindOf({ verdict, top }: RecognisedFile, encoding: string | null): string {
  const how = encoding ?? '';
  if (verdict.kind === 'known') return `${verdict.layout.name} ${how}`;
  return `? ${how} ${top.header.map(foldHeader).sort().join('|')}`;
}

/**
 * A file without a single accent does not show its encoding: it is that of the other files beside it. Otherwise the months
 * without accents would be another source than those with them.
 */
function withSharedEncodings(files: readonly Listed[]): readonly Listed[] {
  return files.map((file) => {
    const { form } = file;
    if (!form.isAscii || form.encoding !== null) return file;
    const others = files.filter(
      (other) =>
        !other.form.isAscii &&
        posix.dirname(other.name) === posix.dirname(file.name) &&
        kindOf(other, null) === kindOf(file, null),
    );
    const [encoding = null, ...further] = new Set(others.map((other) => other.form.encoding));
    // UTF-16 writes every letter in another way.
    if (encoding === null || further.length > 0 || encoding.startsWith('utf-16')) return file;
    return { ...file, form: { ...form, encoding }, kind: kindOf(file, encoding) };
  });
}

type GroupOptions = RecogniseOptions &
  Group & {
    /** The groups of the same kind, which share a proposed layout. */
    readonly alike: readonly Group[];
    /** What was proposed for a kind. */
    readonly proposals: Map<string, ProposedLayout | NoLayout>;
    readonly moreStates: ReadonlyMap<string, readonly string[]>;
  };

async function examineGroup(options: GroupOptions): Promise<RecognisedSource | WhyRefused> {
  const { files, source, path, taken, label } = options;
  const [first] = files;
  const { verdict, form } = first;
  const shared = verdict.kind === 'known' ? null : proposeOnce(options);
  // A file that only shares some names with a known export has columns of its own for what that one requires.
  if (verdict.kind === 'incomplete' && (shared === null || !hasFieldsOf(verdict.layout, shared)))
    return lacking(verdict);
  if (shared !== null && 'why' in shared) return withoutLayout(shared, first);
  const layout = verdict.kind === 'known' ? verdict.layout : (shared?.layout ?? first.splitting);
  const subject = subjectOf(layout);
  const held = subject === 'clicks' ? whyHeld(first.top.header, layout, source) : null;
  if (held !== null) return held;
  const again =
    shared === null
      ? null
      : whyUsedAgain(
          shared.layout,
          files.map(({ top }) => top),
        );
  if (again !== null) return { code: 'item_rows', why: again };
  const unit = verdict.kind === 'known' && subject === 'orders' ? unitIn(first.top, layout) : undefined;
  if (unit !== undefined)
    return {
      code: 'unclear_columns',
      why: `Its column ${JSON.stringify(unit)} says that amounts are in minor units, such as cents, which no layout can read: each would count many times over. Export the amounts as 12.50, without this column.`,
    };
  const isOneOfSeveral = shared !== null && options.alike.length > 1;
  let name = freeName(nameOf(layout.name, label, isOneOfSeveral ? null : taken), taken);
  let proposed = shared;
  let examined = await examineValues(options, { name, layout });
  if (isOneOfSeveral && examined.kind === 'orders' && examined.changes.length > 0) {
    // The files of this folder are written in another way than those of the others, so they get a layout of their own.
    const own = propose(options, files);
    if ('why' in own) return withoutLayout(own, first);
    proposed = own;
    examined = await examineValues(options, { name, layout: own.layout });
  }
  const apart =
    verdict.kind === 'known' && examined.kind === 'orders' ? refundsApart(options, examined) : null;
  if (apart !== null && 'why' in apart) return withoutLayout(apart, first);
  if (apart !== null) {
    proposed = apart;
    name = freeName(apart.layout.name, taken);
    examined = await examineValues(options, { name, layout: apart.layout });
  }
  if (examined.kind === 'orders' && isDamaged(examined))
    return {
      code: 'rows_unreadable',
      why: `Its header belongs to ${layout.title}, but its rows are damaged, so no order can be read. Export it again, without opening it in another program.`,
    };
  if (examined.kind === 'orders' && hasNoStatus(examined))
    return {
      code: 'no_status',
      why: `It has the columns of ${layout.title}, but no row has a status: it may list abandoned checkouts, not orders.`,
    };
  return {
    name,
    path,
    place: source.uri,
    files: files.map(({ file }) => file),
    encoding: form.encoding,
    compressed: form.format !== 'plain',
    proof: verdict.kind === 'known' && proposed === null ? verdict.proof : [],
    proposed,
    examined,
  };
}

/** Why a run would hold a file of clicks by its header; null if it would not. */
function whyHeld(header: readonly string[], layout: Layout, source: SourceSettings): WhyRefused | null {
  try {
    readClicks(source).open(resolveHeader(header, layout), layout);
    return null;
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    const { code, message, help } = error.reason;
    return { code, why: `${message} ${help}` };
  }
}

/**
 * A layout that adds up the rows of an order, if a known layout reads no refunds in these files and they have some as rows
 * of their own, or why a person must accept it first. Null if it reads them, or if the rows do not show which order they
 * lower.
 */
function refundsApart(
  options: GroupOptions,
  { layout, missing, preview: { excluded, rejected } }: OrdersExamined,
): ProposedLayout | NoLayout | null {
  const isOpen =
    missing.size > 0 ||
    excluded.some(({ reason }) => reason === BELOW_ZERO) ||
    rejected.some(({ code }) => code === 'conflicting_rows');
  if (!isOpen || Object.keys(layout.grouping.sum).length > 0) return null;
  const proposed = proposeOnce(options);
  if (!('why' in proposed))
    return options.accepted?.includes(proposed.layout.name) === true ? proposed : null;
  return proposed.hasRefunds === true ? proposed : null;
}

function withoutLayout({ code, why, unclear, example }: NoLayout, { top }: Listed): WhyRefused {
  const isDamagedHeader = top.header.some((name) => name.includes('\uFFFD'));
  const damage = isDamagedHeader ? ' Letters of its header were lost (\uFFFD): export it again.' : '';
  return {
    code,
    why: `${why}${damage}`,
    unclear,
    header: top.header,
    ...(example === undefined ? {} : { example }),
  };
}

/** Reads the values of the files of a source with a layout. */
async function examineValues(
  { files, layouts, source, clients, ...options }: GroupOptions,
  { name, layout }: { name: string; layout: Layout },
): Promise<RecognisedSource['examined']> {
  const subject = subjectOf(layout);
  const [{ form, top }] = files;
  const { stated, ...settings } = options.settingsOf(name);
  const examine = {
    source: { ...source, ...stated },
    clients,
    files: files.map(({ file }) => ({ file, encoding: form.encoding })),
    layout,
    written: layouts.find((one) => one.name === layout.name) ?? layout,
    maxRows: MAX_ROWS,
  };
  if (subject === 'orders') return examineOrders({ ...examine, ...settings });
  if (subject === 'customers') return examineCustomers(examine);
  return {
    kind: subject ?? 'clicks',
    layout,
    isPartial: true,
    rows: top.records.length + top.rejected.length,
  };
}

/**
 * A column that the layout does not read, and that says in which unit amounts are. Its words mean nothing in a column
 * of names or goods.
 */
function unitIn({ header, records }: RecognisedFile['top'], layout: Layout): string | undefined {
  const isUnit = (name: string): boolean => /unit|currency|amount|money/i.test(name);
  const read = new Set(listSpellings(layout).map(foldHeader));
  return header.find(
    (name, at) =>
      isUnit(name) &&
      !read.has(foldHeader(name)) &&
      records.some(({ cells }) => isMinorUnit(cells[at] ?? '')),
  );
}

/** Abandoned checkouts have the same header as orders, but their status is blank. */
function hasNoStatus({ layout, preview }: OrdersExamined): boolean {
  const isRequired = layout.required.includes('status');
  return isRequired && preview.orders > 0 && preview.statuses.every(({ status }) => status === '');
}

/**
 * Returns true if rows are malformed and either no order was read, or only continuation rows were read, which
 * have no status.
 */
function isDamaged(examined: OrdersExamined): boolean {
  const { orders, rejected } = examined.preview;
  const isBroken = rejected.some(({ code }) => code === 'ragged_row' || code === 'bad_quoting');
  return isBroken && (orders === 0 || hasNoStatus(examined));
}

function hasFieldsOf({ required }: Layout, proposed: ProposedLayout | NoLayout): boolean {
  if ('why' in proposed) return proposed.code === 'unclear_columns' && !isHopeless(proposed);
  return required.every((field) => proposed.layout.columns[field] !== undefined);
}

function lacking({
  layout,
  missing,
}: Extract<RecognisedFile['verdict'], { readonly kind: 'incomplete' }>): WhyRefused {
  const quoted = missing.map((names) => names.slice(0, 3).map((name) => `"${name}"`));
  const columns = quoted.map((names) => names.join(' or '));
  return {
    code: 'header_mismatch',
    why: `It has columns of ${layout.title}, but not ${columns.join(', ')}. If it is one, export it again with ${columns.length === 1 ? 'this column' : 'these columns'}.`,
  };
}

/**
 * The layout that is proposed for all files of a kind, whatever folders they are in. If they are written in several ways,
 * that of the files of this folder, or of the first of them; but what is asked of all is asked.
 */
function proposeOnce(options: GroupOptions): ProposedLayout | NoLayout {
  const { alike, files, proposals } = options;
  const [first] = files;
  const shared =
    proposals.get(first.kind) ??
    propose(
      options,
      alike.flatMap((group) => group.files),
    );
  proposals.set(first.kind, shared);
  if (!isHopeless(shared)) return shared;
  const own = propose(options, files);
  return isHopeless(own) ? propose(options, [first]) : own;
}

/** Whether no layout fits, and no answer of a person could change that. */
function isHopeless(proposed: ProposedLayout | NoLayout): boolean {
  return 'why' in proposed && proposed.unclear.length === 0;
}

/** @param files those of this folder, or of all that have the same columns. */
function propose(options: GroupOptions, files: readonly Listed[]): ProposedLayout | NoLayout {
  const { layouts, label, taken, moreStates, alike } = options;
  const [own] = options.files;
  const [first = own, ...others] = files;
  const bundled = new Set(layouts.map((layout) => layout.name));
  const stem = wordsOfAll(files.map(({ file }) => slug(withoutPeriods(fileName(file.uri)))));
  const folder = slug(label);
  const isOfAll = files.length === alike.flatMap((group) => group.files).length;
  const ofFolder = isOfAll && alike.length > 1 ? '' : folder;
  const wanted =
    stem.length <= 1 ? ofFolder || stem || 'own' : isOfAll || folder === '' ? stem : `${folder}-${stem}`;
  const name = freeName(wanted, new Set([...bundled, ...taken]));
  return proposeLayout(first.top, {
    ...options,
    name,
    moreStates: moreStates.get(own.kind),
    others: others.map(({ top }) => top),
    isBelowTitle: files.some(({ isBelowTitle }) => isBelowTitle === true),
  });
}

/**
 * Names a source after its layout. If that name is taken, the name of the folder comes first.
 *
 * @param taken null if several sources share the layout.
 */
function nameOf(layout: string, label: string, taken: ReadonlySet<string> | null): string {
  const folder = slug(label);
  return taken?.has(layout) !== false &&
    !layout.startsWith(`${folder}-`) &&
    folder !== '' &&
    folder !== layout
    ? `${folder}-${layout}`
    : layout;
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
  return name;
}

/** The words that all names have: the layout of several branches is named after none of them. */
function wordsOfAll([first = '', ...others]: readonly string[]): string {
  const words = first.split('-');
  return words.filter((word) => others.every((other) => other.split('-').includes(word))).join('-');
}

const MAX_NAME_CHARS = 40;

/** Converts text to a name that is easy to type. */
function slug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
    .join('-')
    .slice(0, MAX_NAME_CHARS);
}

/** Path of a file relative to its place. */
function nameBelow(place: string, uri: string): string {
  const at = parseSourceUri(place);
  if (at.kind === 's3') {
    const key = uri.replace(/^s3:\/\/[^/]+\//, '');
    const base = at.prefix.slice(0, at.prefix.lastIndexOf('/') + 1);
    return key.slice(base.length);
  }
  const path = decodeURIComponent(new URL(uri).pathname);
  const base = path.startsWith(`${at.path}/`) ? `${at.path}/` : `${posix.dirname(at.path)}/`;
  return path.startsWith(base) ? path.slice(base.length) : posix.basename(path);
}
