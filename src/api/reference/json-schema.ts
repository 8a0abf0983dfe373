import { z } from 'zod';

/** A JSON Schema (draft 2020-12), as far as we look into it. */
export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
};

/**
 * The JSON Schema of a contract's schema. What the specification marks "not shown", and what is not in it at all, carries a mark of its own
 * (`x-not-shown`, `x-not-in-specification`), taken from its description.
 *
 * @param io `input` of a request, `output` of an answer.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _draft, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Bounds of what a double can count say nothing to a reader.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const { description = '' } = jsonSchema;
      if (/\bnot shown\b/i.test(description)) jsonSchema['x-not-shown'] = true;
      if (/\bnot in the specification\b/i.test(description)) jsonSchema['x-not-in-specification'] = true;
    },
  });
  return json as JsonSchema;
}

/**
 * Rules between members, which JSON Schema does not say here: `at least one of deal_id, influencer_handle and collab_id is required`.
 */
export function rulesOf(schema: z.ZodType): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return (schema._zod.def.checks ?? []).flatMap(({ _zod: { def } }) => {
    const said = def.check === 'custom' ? def.error?.({} as never) : undefined;
    return typeof said === 'string' ? [said] : [];
  });
}
