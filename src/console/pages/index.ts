import type { ConsolePage } from '../console-page.ts';
import { assignCodePage } from './assign-code.ts';
import { auditPage } from './audit.ts';
import { backfillPage } from './backfill.ts';
import { backfillsPage } from './backfills.ts';
import { bulkPage } from './bulk/bulk.ts';
import { bulksPage } from './bulk/bulks.ts';
import { checksPage } from './checks/checks.ts';
import { findingPage } from './checks/finding.ts';
import { codesPage } from './codes.ts';
import { customersPage } from './customers.ts';
import { dealPage } from './deal.ts';
import { dealsPage } from './deals.ts';
import { doubtsPage } from './doubts/doubts.ts';
import { exportCodesPage } from './export-codes.ts';
import { filePage } from './files/file.ts';
import { filesPage } from './files/files.ts';
import { rejectedPage } from './files/rejected.ts';
import { rejectedRowPage } from './files/rejected-row.ts';
import { heldPage } from './held.ts';
import { conflictsPage } from './money/conflicts.ts';
import { customersWonPage } from './money/customers-won.ts';
import { leaksPage } from './money/leaks.ts';
import { reconciliationPage } from './money/reconciliation.ts';
import { returnsPage } from './money/returns.ts';
import { noticesPage } from './notices.ts';
import { orderPage } from './order.ts';
import { ordersPage } from './orders.ts';
import { overviewPage } from './overview.ts';
import { runPage } from './run.ts';
import { runsPage } from './runs.ts';
import { schedulesPage } from './schedules.ts';
import { statementPage } from './statements/statement.ts';
import { statementsPage } from './statements/statements.ts';
import { workersPage } from './workers.ts';

/** All pages, in the order of the navigation. */
export const pages: readonly ConsolePage[] = [
  overviewPage,
  runsPage,
  runPage,
  ordersPage,
  orderPage,
  doubtsPage,
  heldPage,
  bulksPage,
  bulkPage,
  rejectedPage,
  rejectedRowPage,
  filesPage,
  filePage,
  checksPage,
  findingPage,
  codesPage,
  assignCodePage,
  exportCodesPage,
  customersPage,
  dealsPage,
  dealPage,
  statementsPage,
  statementPage,
  returnsPage,
  customersWonPage,
  leaksPage,
  conflictsPage,
  reconciliationPage,
  schedulesPage,
  workersPage,
  backfillsPage,
  backfillPage,
  noticesPage,
  auditPage,
];
