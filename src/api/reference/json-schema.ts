import { z } from 'zod';

/** A JSON Schema (draft 2020-12), as far as we look into it. */
export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** In words, what a pattern or a format says. */
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
 * The JSON Schema of a contract's schema. What the specification marks "not shown", and what is not in it at all, carries a mark of its own
 * (`x-not-shown`, `x-not-in-specification`), taken from its description.
 *
 * @param io `input` of a request, `output` of an answer.
 * @param options.keepsBounds whether it says which whole numbers a double can count: a tool that makes requests needs that, a reader does not.
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
      // Bounds of what a double can count say nothing to a reader.
      if (!keepsBounds && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (!keepsBounds && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const { description = '' } = jsonSchema;
      if (/\bnot shown\b/i.test(description)) jsonSchema['x-not-shown'] = true;
      if (/\bnot in the specification\b/i.test(description)) jsonSchema['x-not-in-specification'] = true;
    },
  });
  return json as JsonSchema;
}

/** Members of which at least one must be there and not be empty; null where there is no such rule. */
export function atLeastOneOf(schema: z.ZodType): readonly string[] | null {
  if (!(schema instanceof z.ZodObject)) return null;
  for (const { _zod } of schema._zod.def.checks ?? []) {
    const { params } = _zod.def as { readonly params?: { readonly atLeastOneOf?: readonly string[] } };
    if (params?.atLeastOneOf !== undefined) return params.atLeastOneOf;
  }
  return null;
}

/**
 * Rules between members, in words: `at least one of deal_id, influencer_handle and collab_id is required`.
 */
export function rulesOf(schema: z.ZodType): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return (schema._zod.def.checks ?? []).flatMap(({ _zod: { def } }) => {
    const said = def.check === 'custom' ? def.error?.({} as never) : undefined;
    return typeof said === 'string' ? [said] : [];
  });
}
