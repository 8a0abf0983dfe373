import fc from 'fast-check';
import { z } from 'zod';

/** The parts of JSON Schema that the contract uses. */
type Schema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};

/**
 * Draws values that a schema allows, from its JSON Schema. Rules that JSON Schema cannot express are checked
 * afterwards.
 */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  return drawFrom(z.toJSONSchema(schema, { io: 'input' }) as Schema);
}

function drawFrom(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(drawFrom));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return drawObject(schema);
    case 'array':
      return fc.array(drawFrom(schema.items ?? {}), { maxLength: 4 });
    case 'string':
      return drawText(schema);
    case 'integer':
      return fc.integer({ min: bounded(schema.minimum), max: bounded(schema.maximum ?? 2 ** 31 - 1) });
    case 'number':
      return fc.double({
        noNaN: true,
        noDefaultInfinity: true,
        ...(schema.minimum === undefined ? {} : { min: schema.minimum }),
        ...(schema.maximum === undefined ? {} : { max: schema.maximum }),
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

/** Draws the required members, some of the optional ones, and occasionally an unknown one. */
function drawObject({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const known = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, drawFrom(member)]),
  );
  const unknown = fc.option(fc.tuple(fc.stringMatching(/^x_[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 1 })), {
    nil: null,
    freq: 3,
  });
  return fc
    .tuple(fc.record(known, { requiredKeys: required as string[] }), unknown)
    .map(([object, more]) => ({ ...object, ...(more === null ? {} : { [more[0]]: more[1] }) }));
}

function drawText({ pattern, format, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  if (format === 'uri') return fc.webUrl({ validSchemes: ['http', 'https'] });
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ unit: 'grapheme', minLength: minLength ?? 0, maxLength: maxLength ?? 20 });
}

function bounded(bound: number | undefined): number {
  return Math.max(bound ?? -(2 ** 31), -(2 ** 31));
}

/** Draws any JSON, but mostly objects with the names of the schema's members. */
export function arbitraryNonsense(schema: z.ZodType): fc.Arbitrary<unknown> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' }) as Schema;
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('', null, 0, -1, [], {}, 'x', 1e308),
  );
  const members = Object.fromEntries(Object.keys(properties).map((name) => [name, anything]));
  return fc.oneof(
    { weight: 4, arbitrary: fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: anything },
  );
}
