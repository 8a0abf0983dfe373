import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import { KnownError } from '../../core/known-error.ts';
import type { ReadFor } from '../../core/layout.ts';
import { plural } from '../../core/text/plural.ts';
import type { Run } from '../../ops/run.ts';
import { coversFile } from '../../store/list-files.ts';
import type { ObjectName } from '../../store/parse-source-uri.ts';
import { openQueue } from '../../store/queue/open-queue.ts';
import { takeEvents } from '../../store/queue/take-events.ts';
import { expectAnnouncements, recordAnnouncements, removeOldAnnouncements } from '../files/announcements.ts';

/**
 * Receives what the queue of a source announces, and stores it for every source that shares the queue. The
 * messages are deleted once it is stored. Announced objects that belong to no such source are ignored.
 *
 * @returns false if the source has no queue, if it cannot be read, or for a plan, which must not take
 * messages from it. The names of the source must then be listed.
 */
export async function takeAnnouncements(
  { db, config, client, draining: signal, progress }: Run,
  source: SourceSettings,
  readFor: ReadFor,
): Promise<boolean> {
  const { name, events, region, profile } = source;
  if (events === null || client === null) return false;
  await expectAnnouncements(db, { source: name, readFor });
  await removeOldAnnouncements(db);
  const sharing = Object.values(config.sources).filter((other) => other.events?.queue === events.queue);
  const queue = await openQueue({ url: events.queue, region, profile });
  try {
    const { notUnderstood } = await takeEvents(queue, {
      signal,
      record: async (objects) => recordAnnouncements(db, await placeObjects(objects, sharing)),
    });
    if (notUnderstood > 0)
      progress.note(
        `${plural(notUnderstood, 'message')} in the queue of source ${name} announced no object of S3 and stayed there, for its dead-letter queue.`,
      );
    return true;
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { message, help } = error.details;
    progress.note(`Source ${name}: ${message} All names were listed instead. ${help}`);
    return false;
  } finally {
    queue.close();
  }
}

/** Returns the files that announced objects are, one for each source that covers the object. */
async function placeObjects(
  objects: readonly ObjectName[],
  sources: readonly PipelineConfig['sources'][string][],
): Promise<readonly { readonly source: string; readonly uri: string }[]> {
  const files: { source: string; uri: string }[] = [];
  for (const { bucket, key } of objects) {
    const uri = `s3://${bucket}/${key}`;
    for (const source of sources) if (await coversFile(source, uri)) files.push({ source: source.name, uri });
  }
  return files;
}
