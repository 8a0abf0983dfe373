import type { PipelineConfig } from '../../config/schema.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import type { Finding } from '../../core/finding.ts';
import { KnownError } from '../../core/known-error.ts';
import type { Database } from '../../db/connect.ts';
import type { Patient } from '../../runs/runnable-kind.ts';
import type { Client } from '../../service/client.ts';
import { defineCommand } from '../command.ts';
import type { ConfigOptions } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'check what a run depends on, and say how to fix problems',
  description: 'check everything that a run depends on, and say how to fix problems',
  takes: [
    [
      '--service',
      'compare the service with its description (docs/service.md) by reading calls, and propose the differences',
    ],
  ],
  examples: [
    ['doctor', 'before the first run, and when something looks wrong'],
    ['doctor --service', 'once, with the key of a real account'],
    ['doctor --json', 'one finding per line, for a program'],
  ],
  notes: 'Changes nothing and posts nothing. Exits with 2 if there is a problem.',
  action: async ({ output }, options) =>
    options.service === true
      ? (await import('../api/doctor-service.ts')).doctorService(output, options)
      : performDoctor(output, options),
});

/** Runs all checks and shows findings as they come. A problem among them sets the exit code. */
async function performDoctor(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const { openFindings } = await import('../terminal/show-findings.ts');
  const { show, end } = openFindings(output);
  const config = await readConfig(options, show);
  if (config !== null) await examineAll(config, show);
  return end('doctor_finished', { sayRun: true });
}

async function readConfig(
  options: ConfigOptions,
  show: (finding: Finding) => void,
): Promise<PipelineConfig | null> {
  const { openConfig } = await import('../open/open-config.ts');
  const { findStoredSecrets } = await import('../../config/environment/read-variable.ts');
  const { findingsOf } = await import('../../core/finding.ts');
  try {
    const onMisled: ConfigOptions['onMisled'] = ({ message, help }) =>
      show({ status: 'warning', about: 'environment', what: message, fix: help });
    const config = await openConfig({ ...options, onMisled, onConfigFound: () => {} });
    const { sources, jobs } = config;
    const what = `${config.path}: sources ${namesOf(sources)}; jobs ${namesOf(jobs)}.`;
    show({ status: 'ok', about: 'configuration', what });
    for (const { name, store, id } of findStoredSecrets(config.variables, process.env))
      show({ status: 'ok', about: 'secrets', what: `${name} is in AWS ${store} (${id}).` });
    return config;
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    for (const finding of findingsOf('configuration', error.details)) show(finding);
    return null;
  }
}

function namesOf(section: Readonly<Record<string, unknown>>): string {
  return Object.keys(section).join(', ') || 'none';
}

async function examineAll(config: PipelineConfig, show: (finding: Finding) => void): Promise<void> {
  const { jobKinds } = await import('../../../jobs/index.ts');
  const { isNewEmbedded, withDatabase } = await import('../open/open-config.ts');
  const { examine } = await import('../../monitoring/doctor/examine.ts');
  const { openSourceClients } = await import('../../store/source-clients.ts');
  const sourceClients = openSourceClients();
  const client = await openServiceClient(config);
  const look = async (database: Pick<Patient, 'db' | 'hasTables' | 'databaseProblem'>): Promise<void> => {
    const patient = {
      config,
      kinds: jobKinds,
      client,
      sourceClients,
      pgSslMode: process.env.PGSSLMODE ?? '',
      now: () => new Date(),
      freeBytes,
      ...database,
    };
    for await (const finding of examine(patient)) show(finding);
  };
  try {
    // The examination must not create a database.
    if (isNewEmbedded(config)) return await look({ db: null, hasTables: false, databaseProblem: null });
    let isOpen = false;
    await withDatabase(
      config,
      async (db) => {
        isOpen = true;
        await look({ db, hasTables: await hasTables(db), databaseProblem: null });
      },
      { migrated: false },
    ).catch(async (error: unknown) => {
      if (isOpen || !(error instanceof KnownError)) throw error;
      await look({ db: null, hasTables: false, databaseProblem: error.details });
    });
  } finally {
    sourceClients.close();
    await client?.close();
  }
}

/** If the user may not even ask, the result is false; the check of the database says which rights are missing. */
async function hasTables(db: Database): Promise<boolean> {
  const { pendingMigrations } = await import('../../db/migrate.ts');
  return (await pendingMigrations(db).catch(() => null))?.length === 0;
}

/** Null if the address or key is missing; the check of the service reports it. */
async function openServiceClient({ api }: PipelineConfig): Promise<Client | null> {
  const { openClient } = await import('../open/open-service.ts');
  return api.url === '' || api.key === '' ? null : openClient(api);
}

async function freeBytes(folder: string): Promise<number> {
  const { statfs } = await import('node:fs/promises');
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
