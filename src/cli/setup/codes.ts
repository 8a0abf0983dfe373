import type { JobSettings } from '../../config/job-fields.ts';
import type { Finding } from '../../core/finding.ts';
import type { CodeProblem } from '../../core/report.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { plural } from '../../core/text/plural.ts';
import { defineCommand, parseCount } from '../command.ts';

const checkCommand = defineCommand({
  name: 'check',
  isDefault: true,
  description: 'ask the service whether it knows the owners and brands in codes.csv',
  takes: [['--limit <count>', 'maximum requests; the rest is not checked', parseCount, 500]],
  /**
   * Checks the owners and brands of each codes.csv with the service. Errors within the file are reported when
   * the configuration is checked.
   */
  async action({ output }, options) {
    const { openConfig } = await import('../open/open-config.ts');
    const { openClient } = await import('../open/open-service.ts');
    const { checkOwners } = await import('../../codes/check-owners.ts');
    const { readCodeRows } = await import('../../codes/load-codes.ts');
    const { requireService } = await import('../../config/require-settings.ts');
    const { openFindings } = await import('../terminal/show-findings.ts');
    const config = await openConfig(options);
    const client = openClient(requireService(config));
    const { show, end } = openFindings(output);
    const seen = new Set<string>();
    for (const { name, brandId, codes } of Object.values(config.jobs).filter(hasCodes)) {
      if (seen.has(`${codes} ${brandId}`)) continue;
      seen.add(`${codes} ${brandId}`);
      const { rows, remarks } = readCodeRows(codes);
      const { requestsPerSecond } = config.api;
      const checked = await checkOwners(client, rows, {
        brandId,
        requestsPerSecond,
        maxRequests: options.limit,
      });
      const about = `codes of ${name}`;
      for (const problem of checked.problems) show(toFinding(about, 'problem', problem));
      for (const problem of checked.warnings) show(toFinding(about, 'warning', problem));
      const unchecked =
        checked.unchecked === 0 ? '' : `; ${plural(checked.unchecked, 'row was', 'rows were')} not checked`;
      const unused = remarks.length === 0 ? '' : `; not used: ${remarks.join(', ')}`;
      show({
        status: checked.known < rows.length - checked.unchecked ? 'warning' : 'ok',
        about,
        what: `The service knows the owners of ${checked.known} of ${plural(rows.length, 'row')}${unchecked}${unused}.`,
      });
    }
    return end('codes_checked');
  },
});

export const codesCommand = defineCommand({
  name: 'codes',
  description: 'check codes.csv against the service',
  readsConfig: false,
  examples: [['codes', 'before the first run, and after you change codes.csv']],
  notes: 'Only reads. Exits with 2 if the service does not know an owner or a brand.',
  commands: [checkCommand],
});

/** A job that attributes rows by codes.csv. */
type JobWithCodes = JobSettings & { readonly brandId: string; readonly codes: string };

function hasCodes(job: JobSettings): job is JobWithCodes {
  return 'codes' in job && typeof job.codes === 'string' && 'brandId' in job;
}

function toFinding(
  about: string,
  status: 'problem' | 'warning',
  { line, column, value, reason, help }: CodeProblem,
): Finding {
  const shown = value === null ? '' : ` ${JSON.stringify(maskAddresses(value))}`;
  return { status, about, what: `line ${line}, ${column ?? 'row'}${shown}: ${reason}`, fix: help };
}
