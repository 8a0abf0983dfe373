import type { ConsoleAction } from '../console-page.ts';
import { codeActions } from './assign-code.ts';
import { bulkActions } from './bulk.ts';
import { claimActions } from './claims.ts';
import { statementActions } from './close-statement.ts';
import { jobActions } from './control-job.ts';
import { fileActions } from './decide-files.ts';
import { paymentActions } from './payments.ts';
import { orderActions } from './settle-doubt.ts';

export const actions: readonly ConsoleAction[] = [
  ...orderActions,
  ...bulkActions,
  ...codeActions,
  ...jobActions,
  ...fileActions,
  ...statementActions,
  ...claimActions,
  ...paymentActions,
];
