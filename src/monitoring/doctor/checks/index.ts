import type { Check } from '../../../runs/doctor-check.ts';
import { clocks } from './clocks.ts';
import { database } from './database.ts';
import { disk } from './disk.ts';
import { encryption } from './encryption.ts';
import { keyAndAccount } from './key-and-account.ts';
import { ledger } from './ledger.ts';
import { notices } from './notices.ts';
import { queues } from './queues.ts';
import { schedules } from './schedules.ts';
import { serverLimits } from './server-limits.ts';
import { sources } from './sources.ts';

/**
 * The checks that run before those of the job kinds, in the order in which they are shown. To add one, create
 * a file in this folder and add it to this list.
 */
export const checksOfSurroundings: readonly Check[] = [
  database,
  serverLimits,
  keyAndAccount,
  encryption,
  ledger,
  clocks,
  sources,
  queues,
];

/** The checks that run after those of the job kinds. */
export const checksOfOperation: readonly Check[] = [disk, schedules, notices];
