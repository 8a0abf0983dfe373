import type { Database } from '../db/connect.ts';
import { foldCode } from '../model/fold-code.ts';
import { hasAddress } from '../model/mask-addresses.ts';
import type { CodeRow } from './parse-codes.ts';

/** A code of a deal, as an event of the service told. `at` is when it came. */
export type ToldCode = {
  readonly dealId: string;
  readonly collabId: string | null;
  readonly oldCode: string | null;
  readonly newCode: string | null;
  readonly at: Date;
};

/** Discount codes that events have changed, in the order in which they came. */
export async function readCodeChanges(db: Database): Promise<readonly ToldCode[]> {
  const rows = await db
    .selectFrom('intake.code_changes')
    .select(['deal_id', 'collab_id', 'old_value', 'new_value', 'received_at'])
    .where('kind', '=', 'discount_code')
    .orderBy('event_id')
    .execute();
  return rows.map((row) => ({
    dealId: row.deal_id,
    collabId: row.collab_id,
    oldCode: row.old_value,
    newCode: row.new_value,
    at: row.received_at,
  }));
}

type Window = { code: string; owner: ToldCode; from: Date | null; to: Date | null };

/**
 * Owners of the codes that events told of and codes.csv does not name: what a person wrote down goes first. A code counts from always, for
 * its orders may be older than the event, unless another deal had it before; and until it was taken away or given to another deal.
 *
 * @returns rows with lines below 0: they stand in no file.
 */
export function toCodeRows(changes: readonly ToldCode[], listed: readonly CodeRow[]): readonly CodeRow[] {
  const inFile = new Set(listed.map(({ folded }) => folded));
  const windows = new Map<string, Window[]>();
  const windowsOf = (code: string | null): Window[] | null => {
    const folded = code === null ? '' : foldCode(code);
    if (code === null || folded === '' || inFile.has(folded) || hasAddress(code)) return null;
    const found = windows.get(folded) ?? [];
    windows.set(folded, found);
    return found;
  };
  for (const change of changes) {
    const { oldCode, newCode, at } = change;
    // An event may change the percentage only.
    if (oldCode !== null && newCode !== null && foldCode(oldCode) === foldCode(newCode)) {
      const same = windowsOf(newCode);
      if (same?.length === 0) same.push({ code: newCode, owner: change, from: null, to: null });
      continue;
    }
    const old = windowsOf(oldCode);
    if (old?.length === 0) old.push({ code: oldCode ?? '', owner: change, from: null, to: at });
    else close(old, at, change.dealId);
    const next = windowsOf(newCode);
    close(next, at, null);
    next?.push({ code: newCode ?? '', owner: change, from: next.length === 0 ? null : at, to: null });
  }
  return [...windows]
    .flatMap(([folded, all]) => all.map((window) => ({ folded, window })))
    .map(({ folded, window }, index) => toRow(window, folded, -1 - index));
}

/** Ends what is open, of one deal or of all. */
function close(windows: readonly Window[] | null, at: Date, dealId: string | null): void {
  for (const window of windows ?? [])
    if (window.to === null && (dealId === null || window.owner.dealId === dealId)) window.to = at;
}

function toRow({ code, owner, from, to }: Window, folded: string, line: number): CodeRow {
  const { dealId, collabId } = owner;
  const moment = (at: Date | null) => (at === null ? null : { text: at.toISOString(), isLocal: false });
  return {
    line,
    code,
    folded,
    brandId: null,
    handle: null,
    handleFolded: null,
    dealId,
    collabId,
    target: `deal:${dealId}`,
    from: moment(from),
    to: moment(to),
  };
}
