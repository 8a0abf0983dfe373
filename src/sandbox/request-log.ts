import type { OperationName } from '../service/contract.ts';
import { type Account, type Collaboration, creditSale } from './account/account.ts';
import { readNumberText } from './exact.ts';
import { createFileLog, createMemoryLog, type LineLog } from './line-log.ts';
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
export type RequestLog = {
  readonly referrals: LineLog;
  readonly clicks: LineLog;
  readonly submissions: LineLog;
  readonly requests: LineLog;
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
 * @param options.stateStore where the logs are kept; null for memory.
 * @param options.file file that keeps the referrals, so that they survive a restart; null to keep them like
 *   the other logs.
 */
export function createRequestLog(
  accounts: readonly Account[],
  options: {
    readonly stateStore: StateStore | null;
    readonly file: string | null;
    readonly notesOrders: boolean;
    /** Returns the time in Unix milliseconds; the machine's by default. */
    readonly now?: () => number;
  },
): RequestLog {
  const { stateStore, now = Date.now } = options;
  const openLog = (name: string): LineLog => stateStore?.openLog(name) ?? createMemoryLog();
  const referrals =
    options.file === null
      ? openLog('referrals')
      : createFileLog(options.file, (line) => replayReferral(accounts, line, options.notesOrders));
  const clicks = openLog('clicks');
  const submissions = openLog('submissions');
  const requests = openLog('requests');
  const timestamp = createTimestamp(now);
  const head = createHead(timestamp);
  let sequence = requests.count();

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
      const revenue = readNumberText(bodyText, 'order_revenue') ?? String(order.order_revenue);
      const begun = head(referrals, { account, collaboration });
      const platform =
        order.order_platform === undefined ? '' : `,"order_platform":${JSON.stringify(order.order_platform)}`;
      const currency = order.currency === undefined ? '' : `,"currency":${JSON.stringify(order.currency)}`;
      const notes =
        order.order_notes === undefined ? '' : `,"order_notes":${JSON.stringify(order.order_notes)}`;
      const orderId = JSON.stringify(order.order_id);
      referrals.append(
        `${begun},"order_id":${orderId}${platform},"order_revenue":"${revenue}"${currency}${notes},"body":${onOneLine(bodyText)}}`,
      );
      return revenue;
    },
    recordClick({ account, collaboration, added, newClicks, bodyText }) {
      const begun = head(clicks, { account, collaboration });
      clicks.append(
        `${begun},"increase_clicks":${added},"new_clicks_value":${newClicks},"body":${onOneLine(bodyText)}}`,
      );
    },
    recordSubmission({ account, outreachId, added, bodyText }) {
      const whose = `"account_id":${JSON.stringify(account.id)},"outreach_id":${JSON.stringify(outreachId)}`;
      submissions.append(
        `{"sequence":${submissions.count() + 1},"at":"${timestamp()}",${whose},"added":${JSON.stringify(added)},"body":${onOneLine(bodyText)}}`,
      );
    },
    recordRequest({
      sequence: number,
      accountId,
      operation,
      method,
      path,
      status,
      isProcessed,
      fault,
      unknownMembers,
    }) {
      const route = `"operation":${operation === null ? 'null' : `"${operation}"`},"method":"${method}","path":${JSON.stringify(path)}`;
      const fate = `"status":${status},"processed":${isProcessed},"fault":${fault === null ? 'null' : `"${fault}"`}`;
      const unknown =
        unknownMembers.length === 0 ? '' : `,"unknown_members":${JSON.stringify(unknownMembers)}`;
      const whose = accountId === null ? 'null' : JSON.stringify(accountId);
      requests.append(
        `{"sequence":${number},"at":"${timestamp()}","account_id":${whose},${route},${fate}${unknown}}`,
      );
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

/**
 * Creates the beginning of lines about a collaboration. The ids in it are formatted once per collaboration.
 */
function createHead(
  timestamp: () => string,
): (log: LineLog, about: { readonly account: Account; readonly collaboration: Collaboration }) => string {
  const names = new WeakMap<Collaboration, string>();

  function nameAll(account: Account, collaboration: Collaboration): string {
    const { id, deal } = collaboration;
    const text = `"account_id":${JSON.stringify(account.id)},"deal_id":${JSON.stringify(deal.id)},"collab_id":${JSON.stringify(id)}`;
    names.set(collaboration, text);
    return text;
  }

  return (log, { account, collaboration }) =>
    `{"sequence":${log.count() + 1},"at":"${timestamp()}",${names.get(collaboration) ?? nameAll(account, collaboration)}`;
}

/** In valid JSON, line breaks appear only between tokens, where a blank means the same. */
function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json;
}

/** Creates a function that formats the current time in ISO 8601, at most once per millisecond. */
function createTimestamp(clock: () => number): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = clock();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
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
