import { maskAddresses } from '../text/mask-addresses.ts';

/**
 * Why an order is held that names an owner: something that decides about its credit is not known. The gate
 * (decide/gate.ts), the decisions and the rows themselves give the reasons (docs/architecture.md); every list of held
 * orders takes its words from here.
 */
export type HeldReason = {
  /** What is not known, as a sentence without its full stop: `The amount is not known`. */
  readonly what: string;
  /** What fixes it without a decision about each order. */
  readonly fix: string;
  /**
   * What a person confirms who has such orders credited. Null: no decision can supply what is missing, so they can
   * only be excluded.
   */
  readonly confirms: string | null;
  /** Whether it may be another order that is known, with which a person compares it. */
  readonly comparesOrders?: true;
};

/** Why an order below zero is excluded: a refund or cancellation with an id of its own lowers no order. */
export const BELOW_ZERO = 'negative_revenue';
/** What a person does about them: nothing lowers the orders that they mean. */
export const REFUNDS_APART =
  'For refunds that have the id of their order, or name it in a column, `npx influencer-sync init` proposes a layout that adds them up. Export others in a column of the order. If they lower nothing that is credited, add a rule to the layout, with the column of your amounts: `exclusions: [{ reason: refund_row, columns: [Total], matches: "^-" }]`.';

export const HELD_REASONS: Readonly<Record<string, HeldReason>> = {
  unknown_status: {
    what: 'The layout does not know the status, or there is none',
    fix: 'If the status means a paid order, count it, or add the word to `status.credited` of the layout. Otherwise exclude it, or add the word to `status.known`.',
    confirms: 'orders with this status are paid and count',
  },
  unknown_amount: {
    what: 'The amount is not known, or the subtotal is above the total',
    fix: 'Check the columns of the layout and `revenue` of the job (a subtotal before discounts is no revenue), or export the orders again.',
    confirms: null,
  },
  unknown_refund: {
    what: 'The status says that a part was refunded, but no column says how much',
    fix: 'Export the orders with the refunded amount. Or have them credited in full.',
    confirms: 'they are credited in full',
  },
  refund_out_of_range: {
    what: 'The refunded amount is below zero, or above the total',
    fix: 'Check the column of refunds in the layout (`grouping.sum.refunded.minus` reads negative ones), or export the orders again.',
    confirms: null,
  },
  unknown_payment: {
    what: 'A column says that an amount is still to be paid, or below zero to be paid back, or it has no time of payment, so it is not known what was paid',
    fix: 'Export the orders again once nothing is open. If the amount is wrong, correct the order in the shop.',
    confirms: 'they were paid in full',
  },
  unknown_risk: {
    what: 'A column says that the order may be a fraud',
    fix: 'Export the orders again once the shop has decided about them. Or have them credited, if they were paid and sent.',
    confirms: 'they are no fraud',
  },
  unknown_rate: {
    what: 'A column says that an amount was exchanged, so the currency of the total is not known',
    fix: 'Export the orders with a total in the currency of the order. If all totals are in it, remove the rule of the column from the layout.',
    confirms: 'the total is in the currency of the order',
  },
  unknown_brand: {
    what: 'The order names a brand, and the brand of the job is not known yet',
    fix: 'Name the brand of the job: `--brand` of `init`, `brand_id` of the job.',
    confirms: null,
  },
  unknown_time: {
    what: 'There is no time, or a wrong one, but a start date, a term or the validity of a code depends on it',
    fix: 'Export the orders with the time at which they were placed.',
    confirms: 'they were placed in the period that counts',
  },
  after_export: {
    what: 'The order or its payment is dated after its export was written, so the date is wrong',
    fix: 'Set `date_order` or `time_zone` of the source, or export the orders again.',
    confirms: 'the order counts, whatever its date; what depends on the date is asked next',
  },
  similar_id: {
    what: 'The id differs from that of another order, or of one in a seed, only in zeros, blanks, separators, `#` or case; or a seed has its name',
    fix: 'Compare both orders. If they are the same order, exclude this one. If a seed has names, withdraw it with `ledger unseed`, and record the ids instead.',
    confirms: 'it is another order',
    comparesOrders: true,
  },
  similar_order: {
    what: 'It may be an order that counts already: another file or source states one with the same code and amount at the same time, or as far apart as time zones are; or with the same id; or one of them names the id of the other',
    fix: 'Compare both orders. If they are the same order, exclude this one, or leave one of the sources out. If the sources are different shops or tills, set `own_orders: true` of one of them, and none is held for this again. If their times differ by hours, correct `time_zone` of the source whose times are wrong. If the shop has new numbers for all its orders, exclude all that are held at once.',
    confirms: 'it is another order',
    comparesOrders: true,
  },
  may_be_part: {
    what: 'Orders with the same code, placed in the same second, add up to another one, so they may be its parts: a marketplace splits an order by seller, and exports the whole one, too',
    fix: 'Compare them. If they are parts of the other order, exclude them. To exclude all sub-orders, add a rule to the layout with the column that names the parent order: `exclusions: [{ reason: sub_order, columns: [Parent], not_blank: true }]`.',
    confirms: 'it is an order of its own',
    comparesOrders: true,
  },
  unknown_parent: {
    what: 'The order names a parent order, so it may be a part of it, such as the order of one seller of a marketplace, or the rest of a deposit',
    fix: 'Compare it with the parent order. If that has the whole amount, exclude this one. To exclude all such orders, copy the layout and name the rule of the column `sub_order` in place of `unknown_parent`.',
    confirms: 'it is an order of its own',
  },
  cancelled_elsewhere: {
    what: 'Another source of the same platform states the order as cancelled, refunded or returned',
    fix: 'Exclude the order if that is so. Or leave out the source that is out of date.',
    confirms: 'the order counts, whatever the other source states',
  },
  incomplete: {
    what: 'A row that may belong to the order could not be used',
    fix: 'Correct the rejected rows, or export the file again.',
    confirms: 'the order is complete as it is shown',
  },
  may_be_incomplete: {
    what: 'A row that could not be used names no order, and it may belong to this one',
    fix: 'Correct the rejected rows, or export the file again. If it states the order in the same way, the hold ends.',
    confirms: 'the order is complete as it is shown',
  },
  may_be_repeated: {
    what: 'The file states rows of the order twice, and the rows have no id, so they may count double',
    fix: 'Export the file again, or name the id of items under `grouping.item` of the layout.',
    confirms: 'the rows are different items',
  },
  may_be_split: {
    what: 'Another file states other rows of the order, and the rows have no id, so this may be a part of it',
    fix: 'Export the whole order in one file, or name the id of items under `grouping.item` of the layout.',
    confirms: 'the order is complete as it is shown',
  },
  may_be_cut: {
    what: 'The order is in the last row of a file that may be cut short',
    fix: 'Export the file again. If it states the order in the same way, the hold ends.',
    confirms: 'the order is complete as it is shown',
  },
  conflicting_states: {
    what: 'Two exports state the order differently, and it is not known which is newer',
    fix: 'Set `age` of the source, or put the date into the names of the files.',
    confirms: 'the state that is shown is right',
  },
  newer_row_rejected: {
    what: 'A row about the order could not be used, and nothing says that it is older than what is shown',
    fix: 'Correct the row (`rejected` lists it), or export the order again. The next file that states it ends the hold.',
    confirms: 'the state that is shown is right',
  },
  other_order_same_id: {
    what: 'Another order seems to have the same id, because it was placed at another time. So a number was used again, or two branches use the same numbers',
    fix: 'Make the ids unique: `joined_columns` of the layout with the branch, the date or the year, or a source with an `order_platform` of its own for each shop.',
    confirms: 'the state that is shown is right; the other order is not credited',
  },
  refund_in_total: {
    what: 'Since an earlier export, the total fell by just what was refunded, so the refund may already be subtracted from it',
    fix: 'If the totals of the export are what is left after refunds, have its column of refunds not read: leave it out of the layout, with `missing_columns` of the source, and read the file again.',
    confirms: 'they were lowered, and refunded besides',
  },
  ambiguous_codes: {
    what: 'The codes belong to two owners',
    fix: 'Choose a rule in `attribution` of the job (`conflicts preview last` shows what it changes), or give the codes one owner.',
    confirms: null,
  },
  ambiguous_links: {
    what: 'The links belong to two owners',
    fix: 'Choose a rule in `attribution` of the job (`conflicts preview last` shows what it changes), or give the links one owner.',
    confirms: null,
  },
  deal_of_another: {
    what: 'The order, or the row of its code, names a deal and a creator, and another creator has the deal',
    fix: 'Correct the deal or the handle in the export or in codes.csv, or run the mirror if the deal has changed hands.',
    confirms: 'the deal is credited',
  },
  owner_lost: {
    what: 'The order was posted, and its export no longer names a code or link, or codes.csv no owner of it on that day',
    fix: 'Put the row back into codes.csv, or export the orders with their codes, and run again; to end a code, keep its row with a valid_to. If the creator never earned these orders, exclude them.',
    confirms: null,
  },
  owner_changed: {
    what: 'The order was posted for one creator, and codes.csv or its export now names another one',
    fix: 'If the code has changed hands, give its former row a valid_to and the new one a valid_from; if a row is wrong, correct it; if it is the same creator under a new handle, name the deal and the handle in one row. The next run ends the hold.',
    confirms:
      'they belong to the creator who is named now; the service cannot move them, so settle the difference between the two',
  },
  link_and_code: {
    what: 'A link and a code belong to two owners, and the job holds such orders (attribution: hold)',
    fix: 'Choose a rule in `attribution` of the job, or end the validity of the code.',
    confirms: null,
  },
};

/**
 * Stands for all words of a reason but the most frequent ones, where words are counted (`HeldGroup`). It contains a
 * blank, which no folded word does.
 */
export const OTHER_WORDS = 'other words';

/**
 * Returns the words for a reason, also for one that a layout or another version of the program gave.
 *
 * @param word what is not known: the status, `COLUMN=WORD`, or `OTHER_WORDS`. Null if it is not stored, as in earlier
 * versions.
 */
export function heldReason(reason: string, word: string | null = null): HeldReason {
  const known = Object.hasOwn(HELD_REASONS, reason) ? HELD_REASONS[reason] : undefined;
  if (known !== undefined) return known;
  const [, rule] = /^unknown_(.+)$/.exec(reason) ?? [];
  const confirms = 'nothing excludes them';
  if (rule === undefined) return { what: `Held: ${reason}`, fix: 'Decide about the orders.', confirms };
  const said = word === null || word === OTHER_WORDS ? 'A column has a word' : `${sayWord(word)}, a word`;
  const toWrite = word === null || word === OTHER_WORDS ? 'the word' : JSON.stringify(partsOf(word).written);
  const isFreeText =
    word === OTHER_WORDS
      ? ' If the column has another text for each order, leave it out of the rule in a layout of your own.'
      : '';
  return {
    what: `${said} that the layout does not know, so it is not known whether it excludes the order: ${rule}`,
    fix: `If such orders count, add ${toWrite} to \`unless\` of the rule \`reason: ${rule}\` under \`exclusions\` of the layout, else to its \`equals\`.${isFreeText} Or decide about the orders.`,
    confirms,
  };
}

/**
 * The `exclusion` of an order whose column has a word that is neither known to exclude it nor to let it pass:
 * `unknown_test:Mode=trial`. The reason is what stands before the colon. It contains no e-mail address.
 *
 * @param column its folded name, and `word`, folded: however an export writes them, it is the same state of the order.
 */
export function unknownWord(rule: string, column: string, word: string): string {
  const name = column.replaceAll('=', EQUALS_SIGN);
  return `unknown_${rule}:${name}=${maskAddresses(word).slice(0, MAX_WORD_CHARS)}`;
}

/** How the name of a column has `=` in `COLUMN=WORD`: the first `=` ends the name. */
const EQUALS_SIGN = '%3D';

/** The two parts of a `COLUMN=WORD`. */
function partsOf(word: string): { readonly column: string; readonly written: string } {
  const at = word.indexOf('=');
  return { column: word.slice(0, at).replaceAll(EQUALS_SIGN, '='), written: word.slice(at + 1) };
}

const MAX_WORD_CHARS = 60;

/** The `COLUMN=WORD` that holds an order, of its `exclusion`. Null if it holds none, or an earlier version has read it. */
export function wordOf(exclusion: string | null): string | null {
  const at = exclusion?.indexOf(':') ?? -1;
  return exclusion === null || at < 0 ? null : exclusion.slice(at + 1);
}

/** Says which word a column has: `The column "Delivered" says "on_its_way"`. */
export function sayWord(word: string): string {
  const { column, written } = partsOf(word);
  return `The column ${JSON.stringify(column)} ${written === '' ? 'is blank' : `says ${JSON.stringify(written)}`}`;
}

/** Why an entry of the ledger waits that was not sent: what `state_reason` means for a person. */
const HELD_ENTRIES: Readonly<Record<string, string>> = {
  credited_elsewhere: 'a list of orders that were credited elsewhere names it (ledger seeds)',
  evidence_of_another_poster: 'an event of the service says that another channel has credited it',
  no_longer_attributed: 'no influencer is credited for it any more; if a run credits one again, it is posted',
  backfill_cancelled: 'its backfill was cancelled; another backfill may plan it',
  changed_since_the_plan: 'it has changed since its backfill was planned; another backfill may plan it',
};

/** The reason of an entry's state in words; as it is stored, for example the words of the service, if it has none. */
export function sayStateReason(reason: string | null): string | null {
  return reason !== null && Object.hasOwn(HELD_ENTRIES, reason) ? (HELD_ENTRIES[reason] ?? reason) : reason;
}
