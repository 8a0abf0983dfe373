import type { Check } from '../check.ts';
import { clocks } from './clocks.ts';
import { database } from './database.ts';
import { disk } from './disk.ts';
import { encryption } from './encryption.ts';
import { keyAndAccount } from './key-and-account.ts';
import { ledger } from './ledger.ts';
import { notices } from './notices.ts';
import { schedules } from './schedules.ts';
import { serverLimits } from './server-limits.ts';
import { sources } from './sources.ts';

/** What doctor looks at before what jobs need, in the order in which it is shown. A new check is a file beside this one, and a line here. */
export const checksOfSurroundings: readonly Check[] = [
  database,
  serverLimits,
  keyAndAccount,
  encryption,
  ledger,
  clocks,
  sources,
];

/** What it looks at after that. */
export const checksOfOperation: readonly Check[] = [disk, schedules, notices];
