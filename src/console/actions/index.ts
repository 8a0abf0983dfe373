import type { ConsoleAction } from '../console-page.ts';
import { acknowledgeLeakAction, assignCodeAction, withdrawCodeAction } from './assign-code.ts';
import {
  abortBulkAction,
  confirmBulkAction,
  previewBulkAction,
  previewCreditsAction,
  previewFilesAction,
} from './bulk.ts';
import { addClaimsAction, answerClaimsAction, closeClaimAction } from './claims.ts';
import { closeStatementAction, sendStatementAction, settleMailAction } from './close-statement.ts';
import {
  cancelBackfillAction,
  pauseBackfillAction,
  pauseJobAction,
  resumeBackfillAction,
  resumeJobAction,
  runNowAction,
} from './control-job.ts';
import {
  acknowledgeChecksAction,
  expectDateAction,
  releaseFileAction,
  rereadFileAction,
} from './decide-files.ts';
import {
  cancelPaymentAction,
  exportPaymentsAction,
  proposePaymentsAction,
  settleBookingAction,
} from './payments.ts';
import { decideHeldAction, settleDoubtAction } from './settle-doubt.ts';
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
