import { z } from 'zod';

/** The parts of a JSON Schema (draft 2020-12) that this project reads. */
export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** What the pattern or format means, in words. */
  readonly title?: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
};

/**
 * Converts a schema of the contract to JSON Schema. A member that the specification marks "not shown" gets
 * `x-not-shown`, and one that is not in the specification `x-not-in-specification`; both are taken from its
 * description.
 *
 * @param io `input` for a request, `output` for an answer.
 * @param options.keepsBounds whether to keep the bounds of safe integers. Tools that generate requests need
 *   them, readers do not.
 */
export function toJsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  { keepsBounds = false } = {},
): JsonSchema {
  const { $schema: _draft, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The bounds of safe integers tell a reader nothing.
      if (!keepsBounds && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (!keepsBounds && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const { description = '' } = jsonSchema;
      if (/\bnot shown\b/i.test(description)) jsonSchema['x-not-shown'] = true;
      if (/\bnot in the specification\b/i.test(description)) jsonSchema['x-not-in-specification'] = true;
    },
  });
  return json as JsonSchema;
}

/** Returns the members at least one of which must be present and not empty; null if there is no such rule. */
export function atLeastOneOf(schema: z.ZodType): readonly string[] | null {
  if (!(schema instanceof z.ZodObject)) return null;
  for (const { _zod } of schema._zod.def.checks ?? []) {
    const { params } = _zod.def as { readonly params?: { readonly atLeastOneOf?: readonly string[] } };
    if (params?.atLeastOneOf !== undefined) return params.atLeastOneOf;
  }
  return null;
}

/**
 * The rules between members, each in words: `at least one of deal_id, influencer_handle and collab_id is
 * required`.
 */
export function rulesOf(schema: z.ZodType): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return (schema._zod.def.checks ?? []).flatMap(({ _zod: { def } }) => {
    const said = def.check === 'custom' ? def.error?.({} as never) : undefined;
    return typeof said === 'string' ? [said] : [];
  });
}
