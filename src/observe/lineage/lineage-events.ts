import type { RunStatus } from '../../model/run.ts';
import type { ViewLineage } from './view-lineage.ts';

/** A dataset, named according to OpenLineage. */
export type Dataset = { readonly namespace: string; readonly name: string };

/** The datasets that the runs of a job read and fill. */
export type JobLineage = {
  readonly job: string;
  readonly kind: string;
  readonly inputs: readonly Dataset[];
  /** Tables, and the views of `bi` that they feed, as `schema.name`. */
  readonly fills: readonly string[];
};

/** How a run ended. */
export type LineageEnd = {
  readonly status: RunStatus;
  /** Code of the problem. Null if the run did not fail. Never the text of an error, which may quote a row. */
  readonly problem: string | null;
};

export type EventsOf = {
  /** Converts a table or view of the database to a dataset. */
  readonly nameRelation: (relation: string) => Dataset;
  /** Namespace of jobs. */
  readonly namespace: string;
  readonly version: string;
  readonly views: Readonly<Record<string, ViewLineage>>;
};

/** One run: its UUID, and its id in `ops.runs`. */
export type LineageRun = JobLineage & { readonly uuid: string; readonly runId: string };

const SPEC = 'https://openlineage.io/spec';
const EVENT_TYPE = { ok: 'COMPLETE', issues: 'COMPLETE', failed: 'FAIL', interrupted: 'ABORT' } as const;

/**
 * A run event of OpenLineage 2-0-2. Contains only names of the configuration, tables and columns, and ids of
 * our own tables, never data of rows.
 */
export type LineageEvent = ReturnType<ReturnType<typeof createLineageEvents>>;

/**
 * Returns a function that builds the events of a run: its start, or with `end` its result. Only the event of
 * a successful run describes the columns of its datasets.
 */
export function createLineageEvents({ nameRelation, namespace, version, views }: EventsOf) {
  const producer = `urn:influencer-sync:${version}`;
  const facet = (file: string, type: string) => ({
    _producer: producer,
    _schemaURL: `${SPEC}/facets/${file}.json#/$defs/${type}`,
  });

  function describeColumns(view: string) {
    const lineage = views[view];
    if (lineage === undefined) return {};
    const inputField = (
      column: string,
      transformation: { readonly type: string; readonly subtype?: string },
    ) => {
      const dot = column.lastIndexOf('.');
      const dataset = nameRelation(column.slice(0, dot));
      return { ...dataset, field: column.slice(dot + 1), transformations: [transformation] };
    };
    const columns = Object.entries(lineage.columns);
    return {
      facets: {
        schema: {
          ...facet('1-2-0/SchemaDatasetFacet', 'SchemaDatasetFacet'),
          fields: columns.map(([name]) => ({ name })),
        },
        columnLineage: {
          ...facet('1-2-0/ColumnLineageDatasetFacet', 'ColumnLineageDatasetFacet'),
          fields: Object.fromEntries(
            columns.map(([name, { from, isTakenOver }]) => {
              const subtype = isTakenOver ? 'IDENTITY' : 'TRANSFORMATION';
              return [
                name,
                { inputFields: from.map((column) => inputField(column, { type: 'DIRECT', subtype })) },
              ];
            }),
          ),
          dataset: lineage.rows.map((column) => inputField(column, { type: 'INDIRECT', subtype: 'FILTER' })),
        },
      },
    };
  }

  return ({ uuid, runId, job, kind, inputs, fills }: LineageRun, end: LineageEnd | null) => {
    const eventType = end === null ? 'START' : EVENT_TYPE[end.status];
    const errorMessage = {
      ...facet('1-0-1/ErrorMessageRunFacet', 'ErrorMessageRunFacet'),
      message: `The run failed: ${end?.problem ?? 'sums_do_not_add_up'}`,
      programmingLanguage: 'TypeScript',
    };
    return {
      eventType,
      eventTime: new Date().toISOString(),
      producer,
      schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
      run: {
        runId: uuid,
        facets: {
          tags: {
            ...facet('1-0-0/TagsRunFacet', 'TagsRunFacet'),
            tags: [{ key: 'run_id', value: runId, source: 'influencer-sync' }],
          },
          ...(eventType === 'FAIL' ? { errorMessage } : {}),
        },
      },
      job: {
        namespace,
        name: job,
        facets: {
          jobType: {
            ...facet('2-0-4/JobTypeJobFacet', 'JobTypeJobFacet'),
            processingType: 'BATCH',
            integration: 'INFLUENCER_SYNC',
            jobType: kind,
          },
        },
      },
      inputs,
      outputs: fills.map((relation) => ({
        ...nameRelation(relation),
        ...(eventType === 'COMPLETE' ? describeColumns(relation) : {}),
      })),
    };
  };
}
