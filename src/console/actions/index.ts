import type { ConsoleAction } from '../console-page.ts';
import { acknowledgeLeakAction } from './acknowledge-leak.ts';
import { assignCodeAction, withdrawCodeAction } from './assign-code.ts';
import { abortBulkAction, confirmBulkAction, previewBulkAction, previewCreditsAction } from './bulk.ts';
import { previewFilesAction } from './bulk-files.ts';
import { cancelBackfillAction, pauseBackfillAction, resumeBackfillAction } from './change-backfill.ts';
import { addClaimsAction, answerClaimsAction, closeClaimAction } from './claims.ts';
import { closeStatementAction } from './close-statement.ts';
import { pauseJobAction, resumeJobAction, runNowAction } from './control-job.ts';
import { acknowledgeChecksAction, expectDateAction } from './decide-checks.ts';
import { releaseFileAction, rereadFileAction } from './decide-files.ts';
import { decideHeldAction } from './decide-held.ts';
import {
  cancelPaymentAction,
  exportPaymentsAction,
  proposePaymentsAction,
  settleBookingAction,
} from './payments.ts';
import { sendStatementAction, settleMailAction } from './send-statement.ts';
import { settleDoubtAction } from './settle-doubt.ts';
import { voidCodeAction } from './void-code.ts';

/** All actions of the console. */
export const actions: readonly ConsoleAction[] = [
  settleDoubtAction,
  decideHeldAction,
  previewBulkAction,
  previewCreditsAction,
  previewFilesAction,
  confirmBulkAction,
  abortBulkAction,
  assignCodeAction,
  withdrawCodeAction,
  runNowAction,
  pauseJobAction,
  resumeJobAction,
  releaseFileAction,
  rereadFileAction,
  acknowledgeChecksAction,
  expectDateAction,
  pauseBackfillAction,
  resumeBackfillAction,
  cancelBackfillAction,
  closeStatementAction,
  sendStatementAction,
  settleMailAction,
  acknowledgeLeakAction,
  voidCodeAction,
  addClaimsAction,
  answerClaimsAction,
  closeClaimAction,
  proposePaymentsAction,
  exportPaymentsAction,
  cancelPaymentAction,
  settleBookingAction,
];
