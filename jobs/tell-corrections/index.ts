import type { ConfigFinding } from '../../src/config/configured-kind.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import type { JobKind } from '../job-kind.ts';
import { renderCorrections } from './render.ts';
import type { CorrectionsReport } from './report.ts';
import { type TellCorrectionsSettings, tellCorrectionsFields } from './settings.ts';

/** Tells people who work in the service that orders changed after they were posted, by a note or a task on the deal. */
export const tellCorrections: JobKind<TellCorrectionsSettings, CorrectionsReport> = {
  kind: 'tell-corrections',
  nouns: { items: 'notes', done: 'added' },
  fields: tellCorrectionsFields,
  readsOfSource: [],
  oneReaderHelp: 'It reads no sources.',
  crossCheck,
  purpose: () => null,
  // Two runs that choose corrections at the same time could tell one twice.
  leases: () => ['telling:corrections'],
  // A plan writes a row for each note.
  plansInOverlay: false,
  flow: async (run) => (await import('./flow.ts')).tellCorrections(run),
  fills: ['ledger.entries', 'bi.doubts'],
  backfill: {
    needless: (name) =>
      `${name} needs no backfill: it tells all corrections since its day \`from\`, each once. Set an earlier day, and run it:\n  npx influencer-sync run ${name}`,
  },
  demo: 'Corrections: a refund after posting becomes a note on the deal, once',
  render: renderCorrections,
};

function* crossCheck(
  { name, jobs }: TellCorrectionsSettings,
  { config, before }: { config: PipelineConfig; before: readonly TellCorrectionsSettings[] },
): Generator<ConfigFinding> {
  const orders = Object.values(config.jobs).filter(({ kind }) => kind === 'attribute-orders');
  for (const job of jobs) {
    const path = ['jobs', name, 'of'];
    const other = before.find((one) => one.jobs.includes(job));
    if (!orders.some((one) => one.name === job))
      yield {
        path,
        message: `jobs.${name}.of: there is no job "${job}" of the kind attribute-orders.`,
        help: `Such jobs: ${orders.map((one) => one.name).join(', ') || 'none'}.`,
      };
    else if (other !== undefined)
      yield {
        path,
        message: `jobs.${name}.of: jobs.${other.name} reports the corrections of "${job}" already.`,
        help: 'Let one job report them: two jobs would report some as notes of one, and some as those of the other.',
      };
  }
}
