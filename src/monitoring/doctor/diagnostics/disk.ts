import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { nearestFolder } from '../../../config/locate.ts';
import { ok, problem, warning } from '../../../core/finding.ts';
import type { Diagnostic } from '../../../runs/runnable-kind.ts';

const MEGABYTE = 1_000_000;
/**
 * An answer takes a few hundred bytes, and a run that loses its database spools only the answers in flight.
 * The rest is for the embedded database.
 */
const TOO_LITTLE_BYTES = 50 * MEGABYTE;
const LITTLE_BYTES = 1_000 * MEGABYTE;

/** Checks whether answers of the service can be stored on disk while the database is unreachable. */
export const disk: Diagnostic = {
  name: 'disk',
  async look({ config, freeBytes }) {
    const folder = nearestFolder(config.database.dataFolder);
    const isWritable = await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    );
    const why =
      'Answers that arrive while the database is unreachable are kept there. A lost answer leaves its order in doubt.';
    const unwritable = 'Let the user that runs influencer-sync write there, or mount a volume.';
    if (!isWritable) return [problem(`${folder} is not writable.`, why, unwritable)];
    const free = await freeBytes(folder);
    const what = `${Math.floor(free / MEGABYTE).toLocaleString('en')} MB are free for the data folder.`;
    if (free >= LITTLE_BYTES) return [ok(what)];
    return [
      (free < TOO_LITTLE_BYTES ? problem : warning)(what, why, `Free space on the file system of ${folder}.`),
    ];
  },
};
