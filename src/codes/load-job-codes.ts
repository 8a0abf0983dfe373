import type { JobSettings } from '../config/job-fields.ts';
import { layoutFolders } from '../config/layout-folders.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { plural } from '../core/text/plural.ts';
import { loadLayout } from '../intake/layout/load-layout.ts';
import { findUnknownOwners } from '../mirror/find-unknown-owners.ts';
import { type Run, sourcesOf } from '../ops/run.ts';
import { type LoadedCodes, loadCodes } from './load-codes.ts';

/** A job that attributes its rows by codes.csv. */
type JobWithCodes = JobSettings & {
  readonly brandId: string;
  /** Absolute path. Null if the exports name influencers themselves. */
  readonly codes: string | null;
};

/** `areOwnersChecked` is false if nothing was mirrored yet: nobody knows whether the service has the owners. */
type LoadedJobCodes = LoadedCodes & { readonly areOwnersChecked: boolean };

/** Reads the job's codes.csv, if it has one, and reports codes whose owner the mirror does not know. */
export async function loadJobCodes(run: Run<JobWithCodes>): Promise<LoadedJobCodes> {
  const { db, job, progress } = run;
  const sources = sourcesOf(run);
  const folders = layoutFolders(run.config.path);
  const loaded = await loadCodes(db, {
    job: job.name,
    path: job.codes,
    timeZone: sources[0]?.timeZone ?? null,
    brandId: job.brandId,
    linkParameters: sources.flatMap((source) => loadLayout(source.layout, folders).links.parameters),
  });
  const found = await findUnknownOwners(db, loaded.rows);
  const unknown = found ?? [];
  for (const { line, column, value, reason, help } of unknown.slice(0, UNKNOWN_SHOWN))
    progress.note(
      maskAddresses(`codes.csv line ${line}, ${column} ${JSON.stringify(value)}: ${reason} ${help}`),
    );
  if (unknown.length > UNKNOWN_SHOWN)
    progress.note(
      `${plural(unknown.length - UNKNOWN_SHOWN, 'more owner in codes.csv is', 'more owners in codes.csv are')} unknown; doctor lists all.`,
    );
  return { ...loaded, areOwnersChecked: found !== null };
}

/** Maximum number of unknown owners that a run reports each time. `doctor` lists more. */
const UNKNOWN_SHOWN = 3;
