import type { ConsoleAction } from '../console-page.ts';
import { assignCodeAction, withdrawCodeAction } from './assign-code.ts';
import { abortBulkAction, confirmBulkAction, previewBulkAction } from './bulk.ts';
import { cancelBackfillAction, pauseBackfillAction, resumeBackfillAction } from './change-backfill.ts';
import { pauseJobAction, resumeJobAction, runNowAction } from './control-job.ts';
import { releaseFileAction, rereadFileAction } from './decide-files.ts';
import { settleDoubtAction } from './settle-doubt.ts';

/** Everything that can be changed in the console. */
export const actions: readonly ConsoleAction[] = [
  settleDoubtAction,
  previewBulkAction,
  confirmBulkAction,
  abortBulkAction,
  assignCodeAction,
  withdrawCodeAction,
  runNowAction,
  pauseJobAction,
  resumeJobAction,
  releaseFileAction,
  rereadFileAction,
  pauseBackfillAction,
  resumeBackfillAction,
  cancelBackfillAction,
];
