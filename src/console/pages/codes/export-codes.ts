import { CODE_COLUMNS } from '../../../codes/parse-codes.ts';
import { renderCsv } from '../../../render/csv.ts';
import { listOwnedCodes } from '../../../reports/codes/list-codes.ts';
import type { ConsolePage } from '../../console-page.ts';
import { missing } from '../../markup/parts.ts';
import { textOf } from '../../read-query.ts';

/** More codes than any account has. */
const MOST = 100_000;

/**
 * Exports the codes of a job, including those assigned in the console, as codes.csv, so that they can be kept
 * in the file.
 */
export const exportCodesPage: ConsolePage = {
  path: '/codes/export',
  place: 'Creators',
  tab: null,
  async show(visit) {
    const job = textOf(visit, 'job');
    if (job === null || visit.config.jobs[job] === undefined)
      return missing('Which job?', 'The address names no job of the configuration.');
    const codes = await listOwnedCodes(visit.db, { job, which: 'all', limit: MOST });
    const rows = codes.map((one) => [
      one.code,
      one.brandId ?? '',
      one.influencerHandle ?? '',
      one.dealId ?? '',
      one.collabId ?? '',
      one.validFrom?.toISOString() ?? '',
      one.validTo?.toISOString() ?? '',
    ]);
    return {
      download: {
        name: `codes-${job}.csv`,
        type: 'text/csv',
        content: renderCsv([CODE_COLUMNS, ...rows], { delimiter: ',', escapeFormulas: true }),
      },
    };
  },
};
