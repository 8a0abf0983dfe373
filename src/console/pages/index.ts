import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit.ts';
import { backfillPage, backfillsPage } from './backfills.ts';
import { bulkPage, bulksPage } from './bulk.ts';
import { checksPage, findingPage } from './checks.ts';
import { claimsPage } from './creators/claims.ts';
import { assignCodePage, codesPage, exportCodesPage, leaksPage } from './creators/codes.ts';
import { creatorPage, creatorsPage } from './creators/creators.ts';
import { dealPage, dealsPage } from './creators/deals.ts';
import { customersPage } from './customers.ts';
import { doubtsPage } from './doubts.ts';
import { filePage, filesPage } from './files.ts';
import { fixPage } from './fix.ts';
import { heldPage } from './held.ts';
import { homePage } from './home.ts';
import { conflictsPage } from './money/conflicts.ts';
import { accrualsPage, paymentFilePage, paymentsPage } from './money/payments.ts';
import { reconciliationPage } from './money/reconciliation.ts';
import { customersWonPage, returnsPage } from './money/returns.ts';
import { statementDocumentPage, statementPage, statementsPage } from './money/statements.ts';
import { noticesPage } from './notices.ts';
import { orderPage, ordersPage } from './orders.ts';
import { rejectedPage, rejectedRowPage } from './rejected.ts';
import { restatedPage } from './restated.ts';
import { runPage, runsPage } from './runs.ts';
import { schedulesPage } from './schedules.ts';
import { searchPage } from './search.ts';
import { workersPage } from './workers.ts';

/** The places of the console, in the order of its header. Every page but the search belongs to one of them. */
const PLACES = {
  Home: { tabs: { Home: homePage }, others: [] },
  Orders: { tabs: { Orders: ordersPage, Customers: customersPage }, others: [orderPage] },
  Creators: {
    tabs: {
      Creators: creatorsPage,
      Deals: dealsPage,
      Codes: codesPage,
      'Leaked codes': leaksPage,
      Claims: claimsPage,
    },
    others: [creatorPage, dealPage, assignCodePage, exportCodesPage],
  },
  Money: {
    tabs: {
      Returns: returnsPage,
      'Customers won': customersWonPage,
      Statements: statementsPage,
      Payments: paymentsPage,
      Accruals: accrualsPage,
      Reconciliation: reconciliationPage,
      Conflicts: conflictsPage,
    },
    others: [statementPage, statementDocumentPage, paymentFilePage],
  },
  Fix: {
    tabs: {
      All: fixPage,
      'In doubt': doubtsPage,
      'Held orders': heldPage,
      'Other currency': restatedPage,
      'Rejected rows': rejectedPage,
      'Unusual files': checksPage,
      'Bulk actions': bulksPage,
    },
    others: [rejectedRowPage, findingPage, bulkPage],
  },
  System: {
    tabs: {
      Runs: runsPage,
      Schedules: schedulesPage,
      Workers: workersPage,
      Backfills: backfillsPage,
      Files: filesPage,
      Notices: noticesPage,
      Audit: auditPage,
    },
    others: [runPage, backfillPage, filePage],
  },
} as const satisfies Readonly<
  Record<
    string,
    { readonly tabs: Readonly<Record<string, ConsolePage>>; readonly others: readonly ConsolePage[] }
  >
>;

export type Place = keyof typeof PLACES;
export const places = Object.keys(PLACES) as readonly Place[];

/**
 * A page with its place; null for the search. `tab` is its name among the tabs of the place; null if only other pages
 * link to it.
 */
export type PlacedPage = ConsolePage & { readonly place: Place | null; readonly tab: string | null };

/** All pages. The first tab of a place is where the header leads. */
export const pages: readonly PlacedPage[] = [
  ...places.flatMap((place) => [
    ...Object.entries(PLACES[place].tabs).map(([tab, page]) => ({ ...page, place, tab })),
    ...PLACES[place].others.map((page) => ({ ...page, place, tab: null })),
  ]),
  { ...searchPage, place: null, tab: null },
];
