import type { MirrorAccountSettings } from '../src/model/config.ts';
import { mirrorAccount } from '../src/pipeline/mirror-account.ts';
import type { JobKind } from './index.ts';

/** Mirrors the account: brands, dealflows, deals and collaborations, with their history. */
export const mirrorAccountJob: JobKind<MirrorAccountSettings> = {
  kind: 'mirror-account',
  summary: "copy the account's brands, dealflows and deals into Postgres",
  flow: mirrorAccount,
};
