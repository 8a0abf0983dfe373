import { checkFirstRows } from '../../src/intake/map/map-rows.ts';
import type { NewestFile } from '../../src/runs/runnable-kind.ts';
import { readClicks } from './read-clicks.ts';

/** Checks the first rows of a file of clicks. @throws FileHeld if a run would hold it for them. */
export async function checkClicks({ layout, otherLayouts, source, open }: NewestFile): Promise<string> {
  await checkFirstRows(open(), { layout, readFor: 'clicks', otherLayouts, ...readClicks(source) });
  return '';
}
