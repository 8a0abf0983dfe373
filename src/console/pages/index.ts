import type { ConsolePage } from '../console-page.ts';
import { auditPage } from './audit.ts';
import { backfillPage, backfillsPage } from './backfills.ts';
import { bulkPage, bulksPage } from './bulk/bulk.ts';
import { checksPage, findingPage } from './checks/checks.ts';
import { assignCodePage } from './codes/assign-code.ts';
import { codesPage, exportCodesPage } from './codes/codes.ts';
import { creatorPage, creatorsPage } from './creators/creators.ts';
import { dealPage, dealsPage } from './creators/deals.ts';
import { customersPage } from './customers.ts';
import { doubtsPage } from './doubts/doubts.ts';
import { filePage, filesPage } from './files/files.ts';
import { rejectedPage, rejectedRowPage } from './files/rejected.ts';
import { fixPage } from './fix.ts';
import { heldPage } from './held.ts';
import { homePage } from './home.ts';
import { claimsPage } from './money/claims.ts';
import { conflictsPage } from './money/conflicts.ts';
import { leaksPage } from './money/leaks.ts';
import { accrualsPage, paymentFilePage, paymentsPage } from './money/payments.ts';
import { reconciliationPage } from './money/reconciliation.ts';
import { customersWonPage, returnsPage } from './money/returns.ts';
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
