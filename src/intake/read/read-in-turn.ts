import type { SourceSettings } from '../../config/source-fields.ts';
import { KnownError } from '../../core/known-error.ts';
import type { SourceFile } from '../../core/source.ts';
import { plural } from '../../core/text/plural.ts';
import { type Run, throwIfDraining } from '../../ops/run.ts';
import { readAhead } from '../decode/read-ahead.ts';
import {
  type Intake,
  intakeFile,
  intakeTogether,
  type OpenedFile,
  type SourceReading,
} from './intake-file.ts';
import { openEarly } from './open-records.ts';

/** If more than this share of a source's files is unavailable, the source itself counts as unavailable. */
const MAX_UNAVAILABLE_SHARE = 0.5;

type Turns = SourceReading & {
  /** Number of files that the listing returned. */
  readonly found: number;
  readonly intake: Intake;
};

/**
 * Maximum number of small files that are read together (`intakeTogether`). More would save little, and if one of
 * them must be read alone, the others are read again.
 */
const MAX_TOGETHER = 16;
/** Maximum size of all of them, in bytes. Larger files gain little: a statement takes as long as some 20 kB. */
const MAX_TOGETHER_BYTES = 64 * 1_024;
/**
 * Maximum number of files that are read one by one after files could not be read together. The number doubles
 * each time in a row, because each file of some sources has rejected rows, or orders of the file before it.
 */
const MAX_ALONE = 1_024;

/**
 * Reads files one after the other, and small ones several at a time. The next ones are opened early if they are
 * small, so that their first records are parsed while the database seals the ones before.
 *
 * @throws the error that makes most files unreadable.
 */
export async function readInTurn(
  run: Run,
  wanted: readonly SourceFile[],
  { found, intake, ...reading }: Turns,
): Promise<void> {
  const { sourceClients: clients, draining: signal, options } = run;
  const { source, layout } = reading;
  const ahead = readAhead(wanted, { source, clients });
  // A file that is requested by name may be known, and a plan is rolled back as a whole.
  const takeTogether = options.file === null && !run.db.isTransaction ? intake.takeTogether : undefined;
  /** Files from the next one on that are open. */
  const opened: OpenedFile[] = [];
  let place = 0;
  /** Number of next files that are read one by one, and that number after the next failure. */
  let alone = 0;
  let aloneNext = 1;
  let unavailable = 0;
  let isAvailable = true;

  /** Opens the next files up to this number, those that are small before their turn. */
  function open(count: number): void {
    for (const file of wanted.slice(place + opened.length, place + count)) {
      const isNear = ahead.isNear(file);
      if (!isNear && opened.length > 0) return;
      const isEarly = isNear || file.sizeBytes <= MAX_TOGETHER_BYTES;
      const options = { source, open: ahead.open, clients, signal, isEarly };
      opened.push({ file, content: openEarly(file, layout, options) });
    }
  }

  /** Number of files to read together, from a place on. */
  function togetherFrom(start: number): number {
    // Files of a store that failed are requested one by one.
    if (takeTogether === undefined || alone > 0 || !isAvailable) return 1;
    let bytes = 0;
    const files = wanted.slice(start, start + MAX_TOGETHER);
    const end = files.findIndex((file) => {
      bytes += file.sizeBytes;
      return bytes > MAX_TOGETHER_BYTES;
    });
    return Math.max(1, end === -1 ? files.length : end);
  }

  try {
    while (place < wanted.length) {
      throwIfDraining(run);
      ahead.moveTo(place, isAvailable);
      const count = togetherFrom(place);
      open(count + togetherFrom(place + count));
      const [first] = opened;
      if (first === undefined) throw new Error('a file was not opened');
      const files = opened.slice(0, count);
      const isTogether = takeTogether !== undefined && files.length > 1;
      const sealed = isTogether ? await intakeTogether(run, files, { reading, takeTogether }) : 0;
      let cause: KnownError | null = null;
      if (sealed === null || sealed === 0) {
        // If only the database shows it, any of the files may be the cause.
        if (sealed === null) aloneNext = Math.max(aloneNext, MAX_TOGETHER);
        if (isTogether) {
          alone = aloneNext;
          aloneNext = Math.min(2 * aloneNext, MAX_ALONE);
        }
        alone = Math.max(0, alone - 1);
        cause = await intakeFile(run, { ...reading, ...first, again: options.file !== null }, intake);
      } else aloneNext = 1;
      const read = Math.max(1, sealed ?? 0);
      place += read;
      for (const { content } of opened.splice(0, read)) await content.close();
      isAvailable = cause === null;
      if (cause === null) continue;
      unavailable += 1;
      if (unavailable > found * MAX_UNAVAILABLE_SHARE)
        throw sourceUnavailable(run, { source, unavailable, found, cause });
    }
  } finally {
    ahead.stop();
    for (const { content } of opened) await content.close();
  }
}

/**
 * An unreadable file is held, and the others are read. If most files are unreadable, the source fails with
 * the reason of the last one.
 */
function sourceUnavailable(
  { nouns }: Run,
  options: {
    readonly source: SourceSettings;
    readonly unavailable: number;
    readonly found: number;
    readonly cause: KnownError;
  },
): KnownError {
  const { source, unavailable, found, cause } = options;
  const { message, where = source.uri } = cause.details;
  const count = `${unavailable} of ${plural(found, 'file')}`;
  return new KnownError({
    ...cause.details,
    message: `Source ${source.name} cannot be read: ${count} failed, more than half. ${message}`,
    where,
    safe: `Nothing was ${nouns.done}. Complete files stay read; the next run retries the others.`,
  });
}
