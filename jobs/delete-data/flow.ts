import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import { KnownError } from '../../src/core/known-error.ts';
import type { Certificate } from '../../src/core/privacy/forget.ts';
import { readTombstones } from '../../src/intake/customers/forgotten-customers.ts';
import { requireWholeLedger } from '../../src/ledger/continuity/compare-ledger.ts';
import { auditOfJob } from '../../src/ops/record-audit.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import { tombstonesUnder } from '../../src/privacy/customer-keys.ts';
import { forgetPerson } from '../../src/privacy/forget-person.ts';
import { prune } from '../../src/privacy/prune.ts';
import { type Requests, readRequests } from '../../src/privacy/read-requests.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { type DeleteDataReport, reportDeletion } from './report.ts';
import type { DeleteDataSettings } from './settings.ts';

/** Runs the steps of a deletion: read requests → forget → prune. Sends nothing. */
export async function runDeletion(run: Run<DeleteDataSettings>): Promise<FlowEnd<DeleteDataReport>> {
  const { db, config, job, draining } = run;
  const isPlan = run.client === null;
  // What it deletes in a database that went back would still be in the newer one, and be certified as deleted.
  await requireWholeLedger(db, run.config);
  const requests = await readAll(run);
  const known = await readTombstones(db, { isSearched: true });
  const keys = job.sources.length === 0 ? null : requireCustomerKeys(config);
  const wanted = requests.addresses.filter(
    (address) => keys !== null && !tombstonesUnder(keys, address).some((one) => known.has(one)),
  );
  const { certificates, postponed } = isPlan ? NOBODY : await forgetAll(run, wanted);

  run.progress.begin({ name: 'prune', label: 'Deleting old data', unit: 'rows', total: null });
  const isOver = () => draining.aborted || !run.isLeaseHeld();
  const onBatch = (rows: number) => run.progress.advance(rows);
  const pruned = await prune(db, { retention: config.retention, isDryRun: isPlan, isOver, onBatch });
  const report = reportDeletion({
    certificates,
    pruned,
    postponed,
    problems: requests.problems,
    unreadable: requests.unreadable,
    requests: requests.addresses.length + requests.unreadable,
    forgotten_before: requests.addresses.length - wanted.length,
    toForget: isPlan ? wanted.length : 0,
  });
  return { stop: pruned.isCutShort ? { kind: 'drained' } : null, report };
}

const NOBODY = { certificates: [], postponed: 0 };

async function readAll(run: Run<DeleteDataSettings>): Promise<Requests> {
  const all: { addresses: string[]; unreadable: number; problems: string[] } = {
    addresses: [],
    unreadable: 0,
    problems: [],
  };
  for (const source of sourcesOf(run)) {
    const { addresses, unreadable, problems } = await readRequests(run, source);
    all.addresses.push(...addresses);
    all.unreadable += unreadable;
    all.problems.push(...problems);
  }
  return all;
}

/**
 * Forgets the customers one after the other. If a job is working with customers, the remaining ones wait for
 * the next run.
 */
async function forgetAll(
  { db, config, job, draining, progress }: Run<DeleteDataSettings>,
  addresses: readonly string[],
): Promise<{ readonly certificates: readonly Certificate[]; readonly postponed: number }> {
  progress.begin({
    name: 'forget',
    label: 'Forgetting customers',
    unit: 'customers',
    total: addresses.length,
  });
  const certificates: Certificate[] = [];
  for (const typed of addresses) {
    if (draining.aborted) break;
    try {
      const audit = auditOfJob(job.name);
      certificates.push(await forgetPerson(db, { config, typed, isDryRun: false, audit }));
    } catch (error) {
      if (!(error instanceof KnownError) || error.details.code !== 'already_running') throw error;
      break;
    }
    progress.advance(1);
  }
  return { certificates, postponed: addresses.length - certificates.length };
}
