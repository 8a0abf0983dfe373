import type { Check } from '../check.ts';
import { channels } from './channels.ts';
import { clocks } from './clocks.ts';
import { codes } from './codes.ts';
import { contactKey } from './contact-key.ts';
import { database } from './database.ts';
import { disk } from './disk.ts';
import { encryption } from './encryption.ts';
import { keyAndAccount } from './key-and-account.ts';
import { ledger } from './ledger.ts';
import { schedules } from './schedules.ts';
import { serverLimits } from './server-limits.ts';
import { sources } from './sources.ts';

/** Everything that doctor looks at, in the order in which it is shown. A new check is a file beside this one, and a line here. */
export const checks: readonly Check[] = [
  database,
  serverLimits,
  keyAndAccount,
  encryption,
  ledger,
  clocks,
  sources,
  codes,
  contactKey,
  disk,
  schedules,
  channels,
];
