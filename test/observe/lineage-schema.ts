import { z } from 'zod';

/*
 * The rules that the OpenLineage specification (2-0-2, and the facets named below) sets for a run event,
 * written by hand because no npm package contains its JSON Schema. Objects that the specification leaves open
 * are strict here, so that no field is sent that the specification does not define.
 */

const uri = z.string().regex(/^[a-z][a-z0-9+.-]*:\S+$/i);
const dataset = { namespace: z.string().min(1), name: z.string().min(1) };

function facet<Shape extends z.ZodRawShape>(file: string, type: string, shape: Shape) {
  const address = `https://openlineage.io/spec/facets/${file}.json#/$defs/${type}`;
  return z.strictObject({ _producer: uri, _schemaURL: z.literal(address), ...shape });
}

const inputField = z.strictObject({
  ...dataset,
  field: z.string().min(1),
  transformations: z.array(
    z.strictObject({ type: z.enum(['DIRECT', 'INDIRECT']), subtype: z.string().optional() }),
  ),
});

const facets = z.strictObject({
  schema: facet('1-2-0/SchemaDatasetFacet', 'SchemaDatasetFacet', {
    fields: z.array(z.strictObject({ name: z.string().min(1) })),
  }),
  columnLineage: facet('1-2-0/ColumnLineageDatasetFacet', 'ColumnLineageDatasetFacet', {
    fields: z.record(z.string(), z.strictObject({ inputFields: z.array(inputField) })),
    dataset: z.array(inputField),
  }),
});

export const runEvent = z.strictObject({
  eventType: z.enum(['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER']),
  eventTime: z.iso.datetime({ offset: true }),
  producer: uri,
  schemaURL: z.literal('https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'),
  run: z.strictObject({
    runId: z.uuid(),
    facets: z.strictObject({
      tags: facet('1-0-0/TagsRunFacet', 'TagsRunFacet', {
        tags: z.array(z.strictObject({ key: z.string(), value: z.string(), source: z.string() })),
      }),
      errorMessage: facet('1-0-1/ErrorMessageRunFacet', 'ErrorMessageRunFacet', {
        message: z.string(),
        programmingLanguage: z.string(),
      }).optional(),
    }),
  }),
  job: z.strictObject({
    ...dataset,
    facets: z.strictObject({
      jobType: facet('2-0-4/JobTypeJobFacet', 'JobTypeJobFacet', {
        processingType: z.literal('BATCH'),
        integration: z.string(),
        jobType: z.string(),
      }),
    }),
  }),
  inputs: z.array(z.strictObject(dataset)),
  outputs: z.array(z.strictObject({ ...dataset, facets: facets.optional() })),
});

export type RunEvent = z.output<typeof runEvent>;
