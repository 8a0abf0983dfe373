import type { Operation } from '../contract/operation.ts';
import { type JsonSchema, rulesOf, toJsonSchema } from './json-schema.ts';

/** One member of a query, body or answer, for the reference and for parsing a person's input. */
export type Field = {
  readonly name: string;
  readonly isRequired: boolean;
  /** `text`, `whole number`, `instagram | tiktok | youtube`, `list of text`, `object`, … */
  readonly type: string;
  /** How typed text is converted to JSON. */
  readonly takes: 'text' | 'texts' | 'json';
  readonly isNullable: boolean;
  /** Empty if the contract has no description. */
  readonly description: string;
  /** Known members of an object, or of the objects in a list. */
  readonly members: readonly Field[];
};

/** The members of a request and their place: GET operations have a query, the others a body. */
export type RequestFields = {
  readonly place: 'query' | 'body' | 'none';
  readonly fields: readonly Field[];
  /** Rules between fields, each a sentence. */
  readonly rules: readonly string[];
};

export function requestFieldsOf({ query, body }: Operation): RequestFields {
  const schema = body ?? query;
  if (schema === null) return { place: 'none', fields: [], rules: [] };
  return {
    place: body === null ? 'query' : 'body',
    fields: fieldsOf(toJsonSchema(schema, 'input')),
    rules: rulesOf(schema),
  };
}

export function responseFieldsOf({ response }: Pick<Operation, 'response'>): readonly Field[] {
  return fieldsOf(toJsonSchema(response, 'output'));
}

/** Lists nested members by path: `filter.followers` for objects, `filter.geo[].id` for lists. */
export function flattenFields(fields: readonly Field[], prefix = ''): readonly Field[] {
  return fields.flatMap((field) => {
    const name = `${prefix}${field.name}`;
    const isList = field.type.startsWith('list');
    return [{ ...field, name }, ...flattenFields(field.members, `${name}${isList ? '[]' : ''}.`)];
  });
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema): readonly Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    type: describeType(schema),
    takes: takenAs(schema),
    isNullable: alternatives(schema).some(({ type }) => type === 'null'),
    description: schema.description ?? '',
    members: fieldsOf(schema.items ?? schema),
  }));
}

/** The type in words, with alternatives separated by a bar. */
function describeType(schema: JsonSchema): string {
  const kinds = [...new Set(alternatives(schema).map(describeOne))];
  // Query parameters are text, so `true | false` as text adds nothing to `true or false`.
  return kinds.filter((kind) => kind !== 'true | false' || !kinds.includes(WORDS.boolean ?? '')).join(' | ');
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  null: 'null',
};

function describeOne(schema: JsonSchema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ');
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : describeItems(schema.items)}`;
  if (typeof schema.type !== 'string') return 'anything';
  const { minimum, maximum } = schema;
  const word = WORDS[schema.type] ?? schema.type;
  if (minimum !== undefined && maximum !== undefined) return `${word} ${minimum} to ${maximum}`;
  return minimum === undefined ? word : `${word} from ${minimum}`;
}

function describeItems(items: JsonSchema): string {
  const type = describeType(items);
  if (type === 'object') return 'objects';
  return type.replace(/^list(?= of)/, 'lists').replace(/address$/, 'addresses');
}

function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(alternatives);
  const { type } = schema;
  return Array.isArray(type) ? type.map((one: string) => ({ ...schema, type: one })) : [schema];
}

function takenAs(schema: JsonSchema): Field['takes'] {
  const kinds = alternatives(schema);
  if (kinds.some(({ type, items }) => type === 'array' && items?.type === 'string')) return 'texts';
  return kinds.some(({ type }) => type === 'string') ? 'text' : 'json';
}
