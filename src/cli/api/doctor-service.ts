import { stringify } from 'yaml';
import { requireService } from '../../config/require-settings.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { type Compared, compareService, joinProposals } from '../../monitoring/doctor/compare-service.ts';
import { createClient } from '../../service/client.ts';
import { type ServiceDescription, specifiedService } from '../../service/description/schema.ts';
import { type ConfigOptions, openConfig } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';
import { renderFinding } from '../terminal/show-findings.ts';

const STATUS = { fits: 'ok', differs: 'problem', unclear: 'warning' } as const;

/**
 * Compares the configured service with its description, by reading calls alone, and proposes the differences as YAML.
 *
 * @returns exit code 2 if something differs.
 * @throws KnownError `api_url_missing`, `api_key_missing`, or an error about the configuration (exit 2).
 */
export async function doctorService(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const { url, key, timeoutSeconds, description } = requireService(await openConfig(options));
  const timeoutMs = timeoutSeconds * 1_000;
  const open = (used: string) =>
    createClient({
      url,
      key: used,
      connections: 1,
      timeoutMs,
      connectTimeoutMs: Math.min(10_000, timeoutMs),
      service: onlyRequests(description),
      asReceived: true,
    });
  const client = open(key);
  const stranger = open('influencer-sync-doctor-no-key');
  const compared: Compared[] = [];
  try {
    for await (const one of compareService({ service: description, client, stranger })) {
      compared.push(one);
      const finding = {
        status: STATUS[one.status],
        about: `service.${one.point}`,
        what: `${one.seen}.`,
        ...(one.status === 'differs' ? { fix: 'See the proposal below, and docs/service.md.' } : {}),
      };
      output.emit({ event: 'service_point', ...one });
      output.print(renderFinding(finding, output.terminal));
    }
  } finally {
    await client.close();
    await stranger.close();
  }
  const proposal = joinProposals(compared);
  const isSame = Object.keys(proposal).length === 0;
  output.emit({ event: 'service_compared', differs: !isSame, service: proposal });
  output.print(
    isSame
      ? '\nThe service works as described, as far as reading calls can show. No order was sent.'
      : `\nThe service differs from its description. Check this proposal, and add it to pipeline.yaml:\n\n${stringify({ service: proposal }).trimEnd()}`,
  );
  return isSame ? EXIT.ok : EXIT.configuration;
}

/** The description of requests alone, under the names that the comparison gives itself. */
function onlyRequests({ authentication, operations }: ServiceDescription): ServiceDescription {
  const places = Object.entries(operations).map(([name, { path, method }]) => [
    name,
    { request: {}, answer: {}, items: {}, envelope: null, list: null, paging: null, yes: null, path, method },
  ]);
  return { ...specifiedService, authentication, operations: Object.fromEntries(places) };
}
