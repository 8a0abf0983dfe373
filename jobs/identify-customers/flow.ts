import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import type { RunStop } from '../../src/core/run.ts';
import { analyzeGrown } from '../../src/db/analyze.ts';
import { bindCustomerKey } from '../../src/intake/customers/bind-customer-key.ts';
import { REFUSALS_UNREAD } from '../../src/intake/customers/map/require-consent.ts';
import { prepareBatches } from '../../src/intake/customers/prepare-batches.ts';
import { rekeyWaiting } from '../../src/intake/customers/rekey-customers.ts';
import { isHeldFor } from '../../src/intake/files/release-files.ts';
import { intakeSource } from '../../src/intake/read/intake-source.ts';
import { type OpenLedger, openLedger } from '../../src/ledger/open-ledger.ts';
import { openRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import { fingerprintsOf, rekeyingOf } from '../../src/privacy/customer-keys.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import type { Client } from '../../src/service/client.ts';
import { lookUpCustomers } from './look-up-customers.ts';
import { type CustomersReport, reportCustomers } from './report.ts';
import type { IdentifyCustomersSettings } from './settings.ts';
import { spreadBatches } from './spread-batches.ts';
import { refusesAll, submitBatches } from './submit-batches.ts';
import { createCustomerIntake, sourcesOfUnknown } from './take-customers.ts';

/**
 * Runs the steps of the job: list → open → decode → parse → map → stage → seal → batch → (look up) → identify
 * → record.
 *
 * @param found.mayRefuse no customer is sent to the service: all wait until a person has decided about a file.
 */
export async function identifyCustomers(
  run: Run<IdentifyCustomersSettings>,
  { mayRefuse }: { readonly mayRefuse: boolean },
): Promise<FlowEnd<CustomersReport>> {
  const { db, job, client, runId, config } = run;
  const keys = requireCustomerKeys(config);
  await bindCustomerKey(db, fingerprintsOf(keys));
  if (keys.previous !== null) await rekeyWaiting(db, rekeyingOf(keys));
  const ledger = client === null ? null : await openLedger(run, client);

  const intake = createCustomerIntake(run);
  for (const source of sourcesOf(run)) await intakeSource(run, source, intake);
  await analyzeGrown(db, ['intake.source_files', 'intake.customers', 'intake.waiting_batches']);
  await prepareBatches(db, { ...job, unknownFrom: sourcesOfUnknown(run) });

  const isPlan = client === null || ledger === null;
  const named = { sources: job.sources, readFor: 'customers', code: REFUSALS_UNREAD } as const;
  const isToWait = isPlan || mayRefuse || (await isHeldFor(db, named));
  const stop = isToWait ? null : await submit(run, { client, ledger });
  await analyzeGrown(db, ['intake.identify_batches', 'intake.lookups']);
  const { brandId, sources, lookup } = job;
  const report = await reportCustomers(db, {
    runId,
    brandId,
    sources,
    lookups: lookup === null ? null : { budget: lookup.budget, beyond: intake.lookupsBeyond() },
  });
  return { stop, report };
}

/**
 * Looks customers up first, because the addresses of a batch are deleted as soon as the service accepts it.
 * Then has workers submit batches, if there are any, and submits what they leave.
 */
async function submit(
  run: Run<IdentifyCustomersSettings>,
  { client, ledger }: { client: Client; ledger: OpenLedger },
): Promise<RunStop | null> {
  const open = openRequestGate(run, client);
  try {
    await lookUpCustomers(run, client, open);
    const stop = open.gate.stopped() ?? (await spreadBatches(run, ledger));
    if (stop !== null) return stop;
    const refusal = await submitBatches(run, client, open);
    if (refusal !== null) throw refusesAll(run.job, refusal);
    return open.gate.unfinished();
  } finally {
    open.close();
  }
}
