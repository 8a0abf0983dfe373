import type { Client } from '../api/client.ts';
import { requireHashKey } from '../config/require-hash-key.ts';
import { analyzeGrown } from '../db/analyze.ts';
import { bindContactKey } from '../ledger/contacts/bind-contact-key.ts';
import { prepareBatches } from '../ledger/contacts/prepare-batches.ts';
import { fingerprintOf } from '../map/contact-hash.ts';
import type { IdentifyCustomersSettings } from '../model/config.ts';
import type { RunStop } from '../model/run.ts';
import { reportCustomers } from '../report/report-customers.ts';
import { intakeSource } from './intake-source.ts';
import { lookUpCustomers } from './look-up-customers.ts';
import { openLedger } from './open-ledger.ts';
import { openRequestGate } from './open-request-gate.ts';
import { type Run, sourcesOf } from './run.ts';
import type { FlowEnd } from './run-job.ts';
import { submitBatches } from './submit-batches.ts';
import { createContactIntake } from './take-contacts.ts';

/** The way of customers: list → open → decode → parse → map → stage → seal → batch → (look up) → identify → record. */
export async function identifyCustomers(run: Run<IdentifyCustomersSettings>): Promise<FlowEnd> {
  const { db, job, client, runId, config } = run;
  await bindContactKey(db, fingerprintOf(requireHashKey(config)));
  if (client !== null) await openLedger(run, client);

  const intake = createContactIntake(run);
  for (const source of sourcesOf(run)) await intakeSource(run, source, intake);
  await analyzeGrown(db, ['intake.source_files', 'ledger.contacts', 'intake.contacts']);
  await prepareBatches(db, job);

  const stop = client === null ? null : await submit(run, client);
  await analyzeGrown(db, ['ledger.identify_batches', 'ledger.lookups']);
  const { brandId, sources, lookup } = job;
  const report = await reportCustomers(db, {
    runId,
    brandId,
    sources,
    lookups: lookup === null ? null : { budget: lookup.budget, beyond: intake.lookupsBeyond() },
  });
  return { stop, report };
}

/** Look-ups first: as soon as a batch is taken, its addresses are gone. */
async function submit(run: Run<IdentifyCustomersSettings>, client: Client): Promise<RunStop | null> {
  const open = openRequestGate(run, client);
  try {
    await lookUpCustomers(run, client, open);
    await submitBatches(run, client, open);
    return open.gate.stopped();
  } finally {
    open.close();
  }
}
