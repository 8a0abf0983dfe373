import { dirname, join } from 'node:path';
import { kindOf } from '../../../jobs/index.ts';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import { WILDCARD } from '../../model/text/dated-names.ts';
import type { Dataset } from '../../observe/lineage/lineage-events.ts';
import type { Lineage } from '../../observe/lineage/start-lineage.ts';
import { readVersion } from '../../package/read-version.ts';
import { parseSourceUri } from '../../source/parse-source-uri.ts';
import type { Output } from '../terminal/output.ts';

/** The default of OpenLineage's own clients. */
const DEFAULT_ENDPOINT = 'api/v1/lineage';
const DEFAULT_NAMESPACE = 'influencer-sync';

/**
 * Sends OpenLineage events about runs if the configuration names a receiver, or the environment does with the
 * variables of OpenLineage's own clients. Otherwise returns null and loads nothing.
 */
export async function openLineage(
  config: PipelineConfig,
  output: Pick<Output, 'warn'>,
): Promise<Lineage | null> {
  const { env } = process;
  const set = config.openlineage;
  const url = set.url || (env.OPENLINEAGE_URL ?? '');
  if (url === '' || env.OPENLINEAGE_DISABLED === 'true') return null;
  const { startLineage } = await import('../../observe/lineage/start-lineage.ts');
  return startLineage({
    url: `${url.replace(/(?<=[^/])\/+$/, '')}/${(env.OPENLINEAGE_ENDPOINT || DEFAULT_ENDPOINT).replace(/^\/+/, '')}`,
    apiKey: set.apiKey || (env.OPENLINEAGE_API_KEY ?? ''),
    namespace: set.namespace || env.OPENLINEAGE_NAMESPACE || DEFAULT_NAMESPACE,
    version: readVersion(),
    nameRelation: relationNames(config),
    describeJob: (job) => ({
      job: job.name,
      kind: job.kind,
      inputs: [
        ...nameSources(job, config),
        ...filesOf(job, config).map((name) => ({ namespace: 'file', name })),
      ],
      fills: kindOf(job).fills,
    }),
    onTrouble: (reason) =>
      output.warn(
        `The receiver of lineage (openlineage.url) does not accept events: ${reason}. Runs continue without it.`,
      ),
  });
}

function nameSources({ sources }: JobSettings, config: PipelineConfig): readonly Dataset[] {
  return sources.flatMap((name) => {
    const source = config.sources[name];
    return source === undefined ? [] : [nameFiles(source.uri)];
  });
}

/** The paths of codes.csv, and of terms.csv and fx.csv if runs of the kind add up returns with them. */
function filesOf(job: JobSettings, { statements }: PipelineConfig): readonly string[] {
  const { fills, readsFiles } = kindOf(job);
  const { terms, fx, reportingCurrency } = statements;
  const rules = fills.includes('bi.returns_monthly') ? [terms, reportingCurrency === null ? null : fx] : [];
  return [...(readsFiles?.(job) ?? []), ...rules].filter((path) => path !== null);
}

/**
 * The dataset of a source's files: the folder that contains them, without the part of the path that has
 * wildcards.
 */
function nameFiles(uri: string): Dataset {
  const place = parseSourceUri(uri);
  const below = (path: string): string => {
    const wildcard = path.search(WILDCARD);
    const folder = wildcard < 0 ? path : dirname(`${path.slice(0, wildcard)}x`);
    return folder === '.' ? '/' : folder.replace(/(?<=[^/])\/+$/, '') || '/';
  };
  return place.kind === 'folder'
    ? { namespace: 'file', name: below(place.path) }
    : { namespace: `s3://${place.bucket}`, name: below(place.glob ?? place.prefix) };
}

/** Creates the datasets of tables. A name contains neither user nor password. */
function relationNames({ database }: PipelineConfig): (relation: string) => Dataset {
  const address = URL.parse(database.url);
  if (address === null)
    return (relation) => ({ namespace: 'file', name: join(database.dataFolder, 'postgres', relation) });
  const namespace = `postgres://${address.hostname || 'localhost'}:${address.port || '5432'}`;
  const name = decodeURIComponent(address.pathname.slice(1) || address.username);
  return (relation) => ({ namespace, name: `${name}.${relation}` });
}
