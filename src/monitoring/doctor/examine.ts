import { type Finding, findingsOf } from '../../core/finding.ts';
import { KnownError } from '../../core/known-error.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { explainFailure } from '../../db/server/explain-failure.ts';
import type { Diagnostic, Patient } from '../../runs/runnable-kind.ts';
import { database } from './diagnostics/database.ts';
import { disk } from './diagnostics/disk.ts';
import { keyAndAccount } from './diagnostics/key-and-account.ts';
import { ledger } from './diagnostics/ledger.ts';
import { leases, notices, queues, schedules } from './diagnostics/runs.ts';
import { clocks, encryption, serverLimits } from './diagnostics/server.ts';
import { sources } from './diagnostics/sources.ts';
import { terms } from './diagnostics/terms.ts';

/** Looks at one thing after the other. Yields each finding as soon as it is known. */
export async function* examine(patient: Patient): AsyncGenerator<Finding> {
  for (const diagnostic of OF_SURROUNDINGS) yield* await look(diagnostic, patient);
  for (const { diagnostics } of patient.kinds)
    for (const diagnostic of (await diagnostics?.()) ?? []) yield* await look(diagnostic, patient);
  for (const diagnostic of OF_OPERATION) yield* await look(diagnostic, patient);
}

/** Looks at one thing. If the diagnostic itself fails, that is a finding, and the others continue. */
async function look({ name, look }: Diagnostic, patient: Patient): Promise<readonly Finding[]> {
  try {
    return (await look(patient)).map((finding) => ({ about: name, ...finding }));
  } catch (error) {
    const known = error instanceof KnownError ? error : explainFailure(error);
    if (known !== null) return findingsOf(name, known.details);
    const message = error instanceof Error ? maskAddresses(error.message) : 'something unknown';
    return [
      {
        status: 'problem',
        about: name,
        what: `It could not be checked: ${message}`,
        fix: 'doctor does not know this error yet. Please report it.',
      },
    ];
  }
}

/**
 * The diagnostics before those of the job kinds, in the order in which they are shown. To add one, write it in
 * `diagnostics/` and add it to this list.
 */
const OF_SURROUNDINGS: readonly Diagnostic[] = [
  database,
  serverLimits,
  keyAndAccount,
  encryption,
  ledger,
  clocks,
  sources,
  terms,
  queues,
];

/** The diagnostics after those of the job kinds. */
const OF_OPERATION: readonly Diagnostic[] = [disk, leases, schedules, notices];
