import type { OperationName } from '../service/contract.ts';
import { type Account, type Collaboration, creditSale } from './account/account.ts';
import { readNumberText } from './exact.ts';
import { createFileLog, type LineLog } from './line-log.ts';
import type { StateStore } from './state/state-store.ts';

export type Order = {
  readonly order_id: string;
  readonly order_revenue: number;
  readonly order_platform?: string | undefined;
  readonly order_notes?: string | undefined;
  readonly currency?: string | undefined;
};

export const LOGS = ['referrals', 'clicks', 'submissions', 'requests'] as const;

export type Fate = {
  readonly sequence: number;
  /** The account of the request's key; null if the key belongs to none. */
  readonly accountId: string | null;
  readonly operation: OperationName | null;
  readonly method: string;
  /** The path without the query, which may contain e-mail addresses. */
  readonly path: string;
  /** Null if no status was sent. */
  readonly status: number | null;
  readonly isProcessed: boolean;
  /** The fault that was played, if any. */
  readonly fault: string | null;
  /** Paths of members that are not in the contract. */
  readonly unknownMembers: readonly string[];
};

/** What the sandbox received and did, independent of what a client believes. */
export type RequestLog = { readonly [Name in (typeof LOGS)[number]]: LineLog } & {
  /**
   * Counts a received request.
   * @returns its number.
   */
  nextSequence(): number;
  /** @returns the exact text of the revenue. */
  recordReferral(referral: {
    readonly account: Account;
    readonly collaboration: Collaboration;
    readonly order: Order;
    readonly bodyText: string;
  }): string;
  recordClick(click: {
    readonly account: Account;
    readonly collaboration: Collaboration;
    readonly added: number;
    readonly newClicks: number;
    readonly bodyText: string;
  }): void;
  recordSubmission(submission: {
    readonly account: Account;
    readonly outreachId: string;
    /** Influencers that this request added; those added earlier are left out. */
    readonly added: readonly string[];
    readonly bodyText: string;
  }): void;
  recordRequest(fate: Fate): void;
  /** Replaces all lines. A log that is missing here is emptied. */
  replace(logs: Partial<Readonly<Record<(typeof LOGS)[number], readonly string[]>>>): void;
  close(): void;
};

/**
 * Creates the log of all accounts. Each line contains its account id.
 *
 * @param options.stateStore where the logs are kept.
 * @param options.file file that keeps the referrals, so that they survive a restart; null to keep them like
 *   the other logs.
 */
export function createRequestLog(
  accounts: readonly Account[],
  options: {
    readonly stateStore: StateStore;
    readonly file: string | null;
    readonly notesOrders: boolean;
    /** Returns the time in Unix milliseconds; the machine's by default. */
    readonly now?: () => number;
  },
): RequestLog {
  const { stateStore, now = Date.now } = options;
  const referrals =
    options.file === null
      ? stateStore.openLog('referrals')
      : createFileLog(options.file, (line) => replayReferral(accounts, line, options.notesOrders));
  const clicks = stateStore.openLog('clicks');
  const submissions = stateStore.openLog('submissions');
  const requests = stateStore.openLog('requests');
  let sequence = requests.count();

  const at = (): string => new Date(now()).toISOString();

  /** Appends a line with the body of the request as it was received. */
  function append(log: LineLog, record: object, bodyText: string): void {
    const begun = JSON.stringify({ sequence: log.count() + 1, at: at(), ...record });
    log.append(`${begun.slice(0, -1)},"body":${onOneLine(bodyText)}}`);
  }

  return {
    referrals,
    clicks,
    submissions,
    requests,
    nextSequence: () => {
      sequence += 1;
      return sequence;
    },
    recordReferral({ account, collaboration, order, bodyText }) {
      const { order_id, order_platform, currency, order_notes } = order;
      const order_revenue = readNumberText(bodyText, 'order_revenue') ?? String(order.order_revenue);
      const named = idsOf(account, collaboration);
      append(
        referrals,
        { ...named, order_id, order_platform, order_revenue, currency, order_notes },
        bodyText,
      );
      return order_revenue;
    },
    recordClick({ account, collaboration, added, newClicks, bodyText }) {
      const numbers = { increase_clicks: added, new_clicks_value: newClicks };
      append(clicks, { ...idsOf(account, collaboration), ...numbers }, bodyText);
    },
    recordSubmission({ account, outreachId, added, bodyText }) {
      append(submissions, { account_id: account.id, outreach_id: outreachId, added }, bodyText);
    },
    recordRequest({ sequence: number, accountId, isProcessed, unknownMembers, ...fate }) {
      const { operation, method, path, status, fault } = fate;
      const unknown_members = unknownMembers.length === 0 ? undefined : unknownMembers;
      const line = { sequence: number, at: at(), account_id: accountId, operation, method, path, status };
      requests.append(JSON.stringify({ ...line, processed: isProcessed, fault, unknown_members }));
    },
    replace(logs) {
      referrals.replace(logs.referrals ?? []);
      clicks.replace(logs.clicks ?? []);
      submissions.replace(logs.submissions ?? []);
      requests.replace(logs.requests ?? []);
      sequence = requests.count();
    },
    close() {
      referrals.close();
    },
  };
}

function idsOf({ id }: Account, collaboration: Collaboration): object {
  return { account_id: id, deal_id: collaboration.deal.id, collab_id: collaboration.id };
}

/** In valid JSON, line breaks appear only between tokens, where a blank means the same. */
function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json;
}

type ReferralLine = {
  readonly account_id: string;
  readonly collab_id: string;
  readonly order_id: string;
  readonly order_platform?: string;
  readonly order_revenue: string;
  readonly currency?: string;
};

/**
 * Applies a logged referral to its account. Deals that were created at run time are not in the file, so their
 * counters are not restored.
 */
function replayReferral(accounts: readonly Account[], line: string, notesOrders: boolean): void {
  const referral = JSON.parse(line) as ReferralLine;
  const account = accounts.find(({ id }) => id === referral.account_id);
  if (account === undefined) return;
  if (notesOrders) account.orders.set(`${referral.order_platform ?? ''}\n${referral.order_id}`, true);
  const collaboration = account.collaborations.get(referral.collab_id);
  if (collaboration === undefined) return;
  creditSale(collaboration, { revenue: referral.order_revenue, currency: referral.currency });
}
