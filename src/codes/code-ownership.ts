import { foldCode, foldKey, foldLink } from '../core/text/fold.ts';
import { hasAddress } from '../core/text/mask-addresses.ts';
import type { CodeRow, OwnerRow } from './parse-codes.ts';
import type { OwnershipChange } from './read-code-changes.ts';

/**
 * A discount code, or the texts by which the links of orders identify a custom link. `key` identifies the
 * mark.
 */
type Mark = { readonly key: string } & (
  | { readonly code: string; readonly folded: string }
  | { readonly link: string; readonly linkFolded: readonly string[] }
);

type Window = {
  readonly mark: Mark;
  readonly owner: OwnershipChange;
  readonly from: Date | null;
  to: Date | null;
};

type OwnershipRules = {
  /** Usable rows of codes.csv and assigned codes. */
  readonly listed: readonly CodeRow[];
  readonly linkParameters: readonly string[];
  /** Brand of the job. */
  readonly brandId: string;
};

/**
 * Determines the owners of codes and custom links that events reported and that codes.csv does not name; what
 * a person wrote down takes precedence.
 *
 * An ownership has no start, because orders may be older than the event, unless another deal had the code or
 * link before. It ends when the code or link is taken away. A code that is given to another deal leaves the
 * first one. A link may be given to two deals: then both own it and its orders are held.
 *
 * What the mirror knows about brands can only take ownership away. A deal that is known, but not as a deal of
 * the job's brand, keeps its codes and links for the other brand. It does not take them from the job's own
 * deals and is not credited with the job's orders. If the mirror is out of date, such orders are not credited
 * until it has read the deal again. The codes then change, and the orders are matched again.
 *
 * @param rules.linkParameters the link parameters whose values the job's layouts read.
 * @returns rows with negative line numbers, because they are in no file.
 */
export function toOwnerRows(changes: readonly OwnershipChange[], rules: OwnershipRules): readonly OwnerRow[] {
  const isForeign = ({ brandIds }: OwnershipChange): boolean =>
    brandIds.length > 0 && !brandIds.includes(rules.brandId);
  const own = windowsAfter(
    changes.filter((change) => !isForeign(change)),
    rules,
  );
  const foreign = windowsAfter(changes.filter(isForeign), rules);
  return [...own, ...foreign].map((window, index) => {
    const [brandId = null] = isForeign(window.owner) ? window.owner.brandIds : [];
    return toRow(window, { line: -1 - index, brandId });
  });
}

function windowsAfter(
  changes: readonly OwnershipChange[],
  { listed, linkParameters }: OwnershipRules,
): readonly Window[] {
  const codes = new Set(listed.map(({ folded }) => folded));
  // Links of orders are matched with codes and with handles.
  const names = new Set([...codes, ...listed.map(({ handleFolded }) => handleFolded)]);
  const isListed = (mark: Mark): boolean =>
    'code' in mark ? codes.has(mark.folded) : mark.linkFolded.every((text) => names.has(text));
  const marksOf = (
    { kind }: OwnershipChange,
    value: string | null,
    target: string | null,
  ): readonly Mark[] => {
    const isCode = kind === 'discount_code';
    const marks = isCode
      ? codeMarks(value)
      : referencesOf({ link: value, target }, linkParameters).map((reference) => ({
          key: `link ${textOf(reference)}`,
          link: reference.written,
          linkFolded: reference.all,
        }));
    return marks.filter((mark) => !isListed(mark));
  };
  const windows = new Map<string, Window[]>();
  for (const change of changes) {
    const before = marksOf(change, change.oldValue, change.oldTarget);
    const after = marksOf(change, change.newValue, change.newTarget);
    const kept = new Set(after.map(({ key }) => key));
    for (const mark of before) if (!kept.has(mark.key)) end(windows, mark, change);
    const known = new Set(before.map(({ key }) => key));
    for (const mark of after) {
      // An event may change only the percentage.
      if (known.has(mark.key)) keep(windows, mark, change);
      else begin(windows, mark, change);
    }
  }
  return [...windows.values()].flat();
}

function codeMarks(value: string | null): readonly Mark[] {
  const folded = value === null || hasAddress(value) ? '' : foldCode(value);
  return value === null || folded === '' ? [] : [{ key: `code ${folded}`, code: value, folded }];
}

function windowsOf(windows: Map<string, Window[]>, { key }: Mark): Window[] {
  const found = windows.get(key) ?? [];
  windows.set(key, found);
  return found;
}

function end(windows: Map<string, Window[]>, mark: Mark, owner: OwnershipChange): void {
  const all = windowsOf(windows, mark);
  if (all.length === 0) all.push({ mark, owner, from: null, to: owner.at });
  else close(all, owner.at, owner.dealId);
}

function keep(windows: Map<string, Window[]>, mark: Mark, owner: OwnershipChange): void {
  const all = windowsOf(windows, mark);
  if (all.length === 0) all.push({ mark, owner, from: null, to: null });
}

function begin(windows: Map<string, Window[]>, mark: Mark, owner: OwnershipChange): void {
  const all = windowsOf(windows, mark);
  if ('code' in mark) close(all, owner.at, null);
  all.push({ mark, owner, from: all.length === 0 ? null : owner.at, to: null });
}

/** Ends the open windows of one deal, or of all deals if `dealId` is null. */
function close(windows: readonly Window[], at: Date, dealId: string | null): void {
  for (const window of windows)
    if (window.to === null && (dealId === null || window.owner.dealId === dealId)) window.to = at;
}

function toRow(
  { mark, owner, from, to }: Window,
  { line, brandId }: Pick<OwnerRow, 'line' | 'brandId'>,
): OwnerRow {
  const { key: _, ...named } = mark;
  const { dealId, collabId } = owner;
  const limit = (at: Date | null) => (at === null ? null : { text: at.toISOString(), isLocal: false });
  return {
    ...named,
    line,
    brandId,
    handle: null,
    handleFolded: null,
    dealId,
    collabId,
    target: `deal:${dealId}`,
    from: limit(from),
    to: limit(to),
  };
}

/** A custom link of a deal and its target: a landing page, or the name by which the shop knows it. */
type CustomLink = { readonly link: string | null; readonly target: string | null };

/** Texts, folded like the links of orders. An order with all of them came through the link. */
type References = { readonly written: string; readonly all: readonly string[] };

/**
 * Returns the texts by which links of orders can identify a custom link. If the link, or the page that it
 * leads to, has parameters that name an influencer (`?utm_campaign=spring&ref=mia`), an order must have all
 * of their values, because a single one (`spring`) may occur in the links of many. Otherwise it is the
 * address of the link itself, or the name of its target. The address of a landing page names no influencer.
 *
 * @param parameters the link parameters whose values the layouts read from the links of orders.
 */
export function referencesOf(
  { link, target }: CustomLink,
  parameters: readonly string[],
): readonly References[] {
  const wanted = new Set(parameters.map(foldKey));
  const found = [
    link === null ? null : { written: link, all: valuesOf(link, wanted) ?? addressOf(link) },
    target === null ? null : { written: target, all: valuesOf(target, wanted) ?? nameOf(target) },
  ];
  const usable = found
    .filter((one) => one !== null)
    .filter((one) => one.all.length > 0 && !hasAddress(one.written));
  return [...new Map(usable.map((one) => [textOf(one), one])).values()];
}

/** Key by which equal references are recognised. */
function textOf({ all }: References): string {
  return all.join('\n');
}

/** Returns the values of the wanted parameters, each once, sorted; null if there are none. */
function valuesOf(text: string, wanted: ReadonlySet<string>): readonly string[] | null {
  const url = URL.parse(withScheme(text), 'https://relative.invalid');
  const values = [...(url?.searchParams ?? [])]
    .filter(([name]) => wanted.has(foldKey(name)))
    .map(([, value]) => foldCode(value))
    .filter((value) => value !== '');
  return values.length === 0 ? null : [...new Set(values)].sort();
}

function addressOf(link: string): readonly string[] {
  const address = foldLink(withScheme(link));
  return address === null ? nameOf(link) : [foldCode(address)];
}

/** Returns the folded text as the name of a link; empty if the text is an address. */
function nameOf(text: string): readonly string[] {
  const name = foldCode(text);
  return /^https?:\/\//i.test(text) || /[/?#]/.test(text) || name === '' ? [] : [name];
}

/** Adds a scheme to an address without one: `acme.test/mia` is an address, `mia-spring` is not. */
function withScheme(text: string): string {
  return /^[\w-]+(\.[\w-]+)+[/?]/.test(text) ? `https://${text}` : text;
}
