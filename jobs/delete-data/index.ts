import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import type { JobKind } from '../job-kind.ts';
import { renderDeleted } from './render.ts';
import type { DeleteDataReport } from './report.ts';
import { type DeleteDataSettings, deleteDataFields } from './settings.ts';

/** Forgets customers who asked for it, and deletes data that is older than `retention` allows. */
export const deleteData: JobKind<DeleteDataSettings, DeleteDataReport> = {
  kind: 'delete-data',
  nouns: { items: 'rows', done: 'deleted' },
  fields: deleteDataFields,
  // Its files are not exports: it lists all of them each time, and checks none.
  readsOfSource: [],
  oneReaderHelp: 'Let one job read each source of requests.',
  // Its files are not exports. The tool stores nothing from them, not even the fact that they were read.
  purpose: () => null,
  requireSettings: (config, { sources }) => void (sources.length > 0 && requireCustomerKeys(config)),
  leases: () => ['deleting:data'],
  // A plan only counts rows and writes nothing.
  plansInOverlay: false,
  flow: async (run) => (await import('./flow.ts')).runDeletion(run),
  fills: [],
  backfill: {
    needless: (name) =>
      `${name} needs no backfill: its first run deletes all data that is older than retention allows.`,
  },
  demo: 'Retention: customers who asked to be forgotten are forgotten, and old data is deleted',
  render: renderDeleted,
};
