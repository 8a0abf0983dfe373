import type { Layout, LayoutField, ReadFor } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';

/** What a header was recognised as. */
export type HeaderVerdict =
  /** An export that a layout reads. `proof` lists the columns that identify it. */
  | { readonly kind: 'known'; readonly layout: Layout; readonly proof: readonly string[] }
  /**
   * It has the columns of an export, but lacks required ones. Each list in `missing` names alternatives, of
   * which one is needed.
   */
  | {
      readonly kind: 'incomplete';
      readonly layout: Layout;
      readonly proof: readonly string[];
      readonly missing: readonly (readonly string[])[];
    }
  | { readonly kind: 'unknown' };

/**
 * A translated header has no signature. If a layout requires at least this number of fields and all are
 * found, the header is accepted.
 */
const MIN_FIELDS_WITHOUT_SIGNATURE = 4;
/** A column that other layouts have too is weak evidence alone. Several of them together count. */
const SHARED_COLUMN_WEIGHT = 0.4;
/** Required weight: one distinctive column, or three shared ones. */
const ENOUGH = 1;

type Candidate = {
  readonly layout: Layout;
  readonly proof: readonly string[];
  readonly weight: number;
  readonly missing: readonly (readonly string[])[];
  /** Fields that have a column. */
  readonly fields: ReadonlySet<LayoutField>;
  /** Their number; a column of consent counts as one. */
  readonly found: number;
};

/** The main purpose of a layout's files. Null if it has none. */
export function subjectOf(layout: Layout): ReadFor | null {
  const subjects: readonly ReadFor[] = ['orders', 'clicks', 'creators', 'customers'];
  return subjects.find((readFor) => layoutFor(layout, readFor) !== null) ?? null;
}

/**
 * Recognises an export by the columns that distinguish it, never by its required columns alone, because
 * nearly every export has a column such as `Email`. A complete signature decides. If several match, the
 * heaviest wins; columns that several layouts share weigh less.
 */
export function recogniseHeader(header: readonly string[], layouts: readonly Layout[]): HeaderVerdict {
  const names = new Set(header.map(foldHeader));
  const shared = sharedColumns(layouts);
  const candidates = layouts.map((layout) => weigh(layout, names, shared));
  const proven = candidates.filter(({ weight }) => weight >= ENOUGH).sort(byWeight);
  const [best] = proven;
  const complete = proven.find(({ missing }) => missing.length === 0);
  if (complete !== undefined) return known(complete);
  const hasOrders =
    best !== undefined ? subjectOf(best.layout) === 'orders' : candidates.some(looksLikeOrders);
  const [own] = candidates
    .filter((candidate) => isOwnOrTranslated(candidate))
    .filter(({ layout }) => !hasOrders || subjectOf(layout) === 'orders')
    .sort(byWeight);
  if (own !== undefined) return known(own);
  if (best !== undefined)
    return { kind: 'incomplete', layout: best.layout, proof: best.proof, missing: best.missing };
  return { kind: 'unknown' };
}

function known({ layout, proof }: Candidate): HeaderVerdict {
  return { kind: 'known', layout, proof };
}

function byWeight(one: Candidate, other: Candidate): number {
  return other.weight - one.weight || other.found - one.found;
}

/**
 * Returns true for a custom layout, which has no signature, or a translation of a known export. A single
 * column of addresses is neither.
 */
function isOwnOrTranslated({ layout, missing, found, fields }: Candidate): boolean {
  if (missing.length > 0) return false;
  if (layout.signature.length > 0)
    return layout.required.includes('order_id') && layout.required.length >= MIN_FIELDS_WITHOUT_SIGNATURE;
  // An address and a currency are part of most exports.
  if (subjectOf(layout) === 'customers') return found - (fields.has('currency') ? 1 : 0) >= 2;
  return found >= (subjectOf(layout) === 'orders' ? 3 : 2);
}

/**
 * Returns true if the columns are those of orders, even if some are missing. Orders have addresses and currencies
 * too, so such a file is never taken for a list of customers.
 */
function looksLikeOrders({ layout, fields }: Candidate): boolean {
  return (
    subjectOf(layout) === 'orders' && fields.has('total') && (fields.has('order_id') || fields.has('status'))
  );
}

function weigh(layout: Layout, names: ReadonlySet<string>, shared: ReadonlySet<string>): Candidate {
  const has = (spelling: string): boolean => names.has(foldHeader(spelling));
  const sets = layout.signature
    .filter((columns) => columns.every(has))
    .map((columns) => ({
      columns,
      weight: columns.reduce(
        (sum, name) => sum + (shared.has(foldHeader(name)) ? SHARED_COLUMN_WEIGHT : 1),
        0,
      ),
    }))
    .sort((one, other) => other.weight - one.weight);
  const fields = Object.keys(layout.columns) as LayoutField[];
  const isOfCustomers = subjectOf(layout) === 'customers';
  const foundFields = fields.filter(
    (field) => !(isOfCustomers && field === 'currency') && spellingsOf(layout, field).some(has),
  );
  const consent = layout.consent.columns.some(has) ? 1 : 0;
  const lacks = (field: LayoutField): boolean => !spellingsOf(layout, field).some(has);
  const missing = [
    ...layout.required.filter(lacks).map((field) => spellingsOf(layout, field)),
    ...layout.requiredAny
      .filter((list) => list.every(lacks))
      .map((list) => list.flatMap((field) => spellingsOf(layout, field))),
  ];
  const [set] = sets;
  const required = layout.required.flatMap((field) => spellingsOf(layout, field).find(has) ?? []);
  return {
    layout,
    proof: set?.columns ?? required,
    weight: set?.weight ?? 0,
    missing,
    fields: new Set(foundFields),
    found: foundFields.length + consent,
  };
}

/** The spellings of a field's columns in files, without the columns that the layout computes itself. */
function spellingsOf(layout: Layout, field: LayoutField): readonly string[] {
  const made = new Set(layout.conditionalColumns.map(({ name }) => name));
  const sums: Readonly<Record<string, { readonly plus: readonly string[] } | undefined>> =
    layout.grouping.sum;
  return [...(layout.columns[field] ?? []), ...(sums[field]?.plus ?? [])].filter((name) => !made.has(name));
}

/** Columns that several layouts read, folded. */
function sharedColumns(layouts: readonly Layout[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const layout of layouts) {
    const all = (Object.keys(layout.columns) as LayoutField[]).flatMap((field) => spellingsOf(layout, field));
    for (const name of new Set(all.map(foldHeader))) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count > 1).map(([name]) => name));
}
