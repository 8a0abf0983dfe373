import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit.ts';
import { backfillPage } from './backfill.ts';
import { backfillsPage } from './backfills.ts';
import { bulkPage } from './bulk/bulk.ts';
import { bulksPage } from './bulk/bulks.ts';
import { checksPage } from './checks/checks.ts';
import { findingPage } from './checks/finding.ts';
import { assignCodePage } from './codes/assign-code.ts';
import { codesPage } from './codes/codes.ts';
import { exportCodesPage } from './codes/export-codes.ts';
import { creatorPage } from './creators/creator.ts';
import { creatorsPage } from './creators/creators.ts';
import { dealPage } from './creators/deal.ts';
import { dealsPage } from './creators/deals.ts';
import { customersPage } from './customers.ts';
import { doubtsPage } from './doubts/doubts.ts';
import { filePage } from './files/file.ts';
import { filesPage } from './files/files.ts';
import { rejectedPage } from './files/rejected.ts';
import { rejectedRowPage } from './files/rejected-row.ts';
import { fixPage } from './fix.ts';
import { heldPage } from './held.ts';
import { homePage } from './home.ts';
import { claimsPage } from './money/claims.ts';
import { conflictsPage } from './money/conflicts.ts';
import { customersWonPage } from './money/customers-won.ts';
import { leaksPage } from './money/leaks.ts';
import { accrualsPage, paymentFilePage, paymentsPage } from './money/payments.ts';
import { reconciliationPage } from './money/reconciliation.ts';
import { returnsPage } from './money/returns.ts';
import { noticesPage } from './notices.ts';
import { orderPage } from './order.ts';
import { ordersPage } from './orders.ts';
import { runPage } from './run.ts';
import { runsPage } from './runs.ts';
import { schedulesPage } from './schedules.ts';
import { searchPage } from './search.ts';
import { statementDocumentPage } from './statements/document.ts';
import { statementPage } from './statements/statement.ts';
import { statementsPage } from './statements/statements.ts';
import { workersPage } from './workers.ts';

/** All pages. The first tab of a place is where the header leads; its other tabs have this order. */
export const pages: readonly ConsolePage[] = [
  homePage,
  searchPage,
  ordersPage,
  orderPage,
  conflictsPage,
  customersPage,
  creatorsPage,
  creatorPage,
  dealsPage,
  dealPage,
  codesPage,
  assignCodePage,
  exportCodesPage,
  leaksPage,
  claimsPage,
  returnsPage,
  customersWonPage,
  statementsPage,
  statementPage,
  statementDocumentPage,
  paymentsPage,
  paymentFilePage,
  accrualsPage,
  reconciliationPage,
  fixPage,
  doubtsPage,
  heldPage,
  rejectedPage,
  rejectedRowPage,
  checksPage,
  findingPage,
  bulksPage,
  bulkPage,
  runsPage,
  runPage,
  schedulesPage,
  workersPage,
  backfillsPage,
  backfillPage,
  filesPage,
  filePage,
  noticesPage,
  auditPage,
];
