import { type Finding, findingsOf } from '../../core/finding.ts';
import { KnownError } from '../../core/known-error.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { explainFailure } from '../../db/server/explain-failure.ts';
import type { Diagnostic, Patient } from '../../runs/runnable-kind.ts';
import { database } from './checks/database.ts';
import { disk } from './checks/disk.ts';
import { keyAndAccount } from './checks/key-and-account.ts';
import { ledger } from './checks/ledger.ts';
import { leases, notices, queues, schedules } from './checks/runs.ts';
import { clocks, encryption, serverLimits } from './checks/server.ts';
import { sources } from './checks/sources.ts';

/** Runs all checks, one after the other. Yields each finding as soon as it is known. */
export async function* examine(patient: Patient): AsyncGenerator<Finding> {
  for (const check of checksOfSurroundings) yield* await look(check, patient);
  for (const { checks } of patient.kinds)
    for (const check of (await checks?.()) ?? []) yield* await look(check, patient);
  for (const check of checksOfOperation) yield* await look(check, patient);
}

/** Runs one check. If the check itself fails, that is a finding, and the other checks continue. */
async function look(check: Diagnostic, patient: Patient): Promise<readonly Finding[]> {
  try {
    return (await check.look(patient)).map((finding) => ({ about: check.name, ...finding }));
  } catch (error) {
    const known = error instanceof KnownError ? error : explainFailure(error);
    if (known !== null) return findingsOf(check.name, known.details);
    const message = error instanceof Error ? maskAddresses(error.message) : 'something unknown';
    return [
      {
        status: 'problem',
        about: check.name,
        what: `It could not be checked: ${message}`,
        fix: 'doctor does not know this error yet. Please report it.',
      },
    ];
  }
}

/**
 * The checks that run before those of the job kinds, in the order in which they are shown. To add one, write it in
 * `checks/` and add it to this list.
 */
const checksOfSurroundings: readonly Diagnostic[] = [
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
const checksOfOperation: readonly Diagnostic[] = [disk, leases, schedules, notices];
