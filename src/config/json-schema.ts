import { z } from 'zod';
import type { ConfiguredKind } from './configured-kind.ts';
import { NAME, WRITTEN_AS_NUMBER } from './fields.ts';
import { pipelineSchemaOf } from './schema.ts';

/** A reference to a variable, which is allowed instead of any scalar. */
const REFERENCE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' };

const SCALARS = ['string', 'number', 'integer', 'boolean'];

/**
 * Creates the JSON Schema of `pipeline.yaml` for editors. It describes what a person may write, so any scalar
 * may be a reference.
 */
export function pipelineJsonSchema(kinds: readonly ConfiguredKind[]): string {
  const schema = z.toJSONSchema(pipelineSchemaOf(kinds), {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const isScalar = typeof jsonSchema.type === 'string' && SCALARS.includes(jsonSchema.type);
      if (!isScalar || zodSchema._zod.def.type === 'literal' || acceptsAnyText(jsonSchema)) return;
      if (jsonSchema.pattern === NAME.source) return; // The name of a source or job is a key, and keys cannot be references.
      const { description, default: fallback, [WRITTEN_AS_NUMBER]: isNumber, ...scalar } = jsonSchema;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, { ...(description === undefined ? {} : { description }) });
      Object.assign(jsonSchema, {
        ...(fallback === undefined ? {} : { default: fallback }),
        anyOf: [scalar, ...(isNumber === true ? [{ type: 'number' }] : []), REFERENCE],
      });
    },
  });
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function acceptsAnyText(jsonSchema: z.core.JSONSchema.BaseSchema): boolean {
  return jsonSchema.type === 'string' && jsonSchema.enum === undefined && jsonSchema.pattern === undefined;
}
