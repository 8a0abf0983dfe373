import { stringify } from 'yaml';
import { z } from 'zod';
import type { ConfiguredKind } from '../../src/config/configured-kind.ts';
import { NAME, WRITTEN_AS_NUMBER } from '../../src/config/fields.ts';
import { timing } from '../../src/config/job-fields.ts';
import { pipelineSchemaOf } from '../../src/config/schema.ts';
import { serviceFileSchema } from '../../src/config/service-file.ts';
import { layoutSchema } from '../../src/intake/layout/layout-schema.ts';
import { serviceSchema } from '../../src/service/description/schema.ts';

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
      const anyOf = [scalar, ...(isNumber === true ? [{ type: 'number' }] : []), REFERENCE];
      Object.assign(jsonSchema, { description, default: fallback, anyOf });
    },
  });
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function acceptsAnyText(jsonSchema: z.core.JSONSchema.BaseSchema): boolean {
  return jsonSchema.type === 'string' && jsonSchema.enum === undefined && jsonSchema.pattern === undefined;
}

/** One setting of section `service`. */
type Point = {
  /** Names from the section on: `answers.refused`. */
  readonly path: readonly string[];
  readonly description: string;
  /** As a person writes it. Undefined for a section, whose settings follow. */
  readonly fallback: unknown;
};

/** Writes `config/service.yaml`: every open point with our default, and its description as a comment. */
export function serviceYaml(): string {
  const lines = [
    '# yaml-language-server: $schema=./service.schema.json',
    '#',
    '# How the service does what its specification leaves open: our defaults. This file is generated from',
    '# src/service/description/schema.ts. To change a point, copy it into section `service:` of pipeline.yaml, or into a',
    '# service.yaml next to it. See docs/service.md.',
    '',
    'service:',
  ];
  for (const { path, description, fallback } of points()) {
    const indent = '  '.repeat(path.length);
    lines.push(...wrap(description).map((line) => `${indent}# ${line}`));
    const value = fallback === undefined ? '' : ` ${written(fallback)}`;
    lines.push(`${indent}${path.at(-1)}:${value}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The JSON Schema of `service.yaml`, for editors. */
export function serviceJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(serviceFileSchema, { io: 'input' }), null, 2)}\n`;
}

/** The table of docs/service.md: each point, what the specification says, our default and its source. */
export function serviceTable(): string {
  const rows = points()
    .filter(({ fallback }) => fallback !== undefined)
    .map(({ path, description, fallback }) => {
      const [said = '', source = ''] = description.split(' Source: ');
      return [`\`${path.join('.')}\``, said, `\`${written(fallback)}\``, source.replace(/\.$/, '')];
    });
  return tableOf(['Setting', 'The specification, and what the setting means', 'Default', 'Source'], rows);
}

/** The table of docs/scheduling.md: when a job runs and how long it may take. */
export function timingTable(): string {
  const rows = points(z.strictObject(timing)).map(({ path, description, fallback }) => [
    `\`${path.join('.')}\``,
    description,
    fallback === null ? '' : `\`${written(fallback)}\``,
  ]);
  return tableOf(['Setting', 'Meaning', 'Default'], rows);
}

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

function points(schema: z.core.$ZodType = serviceSchema, path: readonly string[] = []): readonly Point[] {
  const section = unwrapped(schema);
  if (!(section instanceof z.ZodObject)) return [];
  return Object.entries(section.shape as Readonly<Record<string, z.ZodType>>).flatMap(([name, member]) => {
    const own = { path: [...path, name], description: member.description ?? '' };
    const inner = points(member, own.path);
    return inner.length > 0
      ? [{ ...own, fallback: undefined }, ...inner]
      : [{ ...own, fallback: defaultOf(member) }];
  });
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault
    ? unwrapped(schema.def.innerType)
    : schema;
}

function defaultOf(schema: z.ZodType): unknown {
  const found =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault ? schema.def.defaultValue : null;
  return Array.isArray(found) ? found.map(asWritten) : found;
}

/** A sign without a text is written as its status. */
function asWritten(value: unknown): unknown {
  const { status, text } = (value ?? {}) as { readonly status?: unknown; readonly text?: unknown };
  return status !== undefined && text === null ? status : value;
}

function written(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim();
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 108) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Returns the JSON Schema of `config/layouts/*.yaml`, for editors. A layout that extends another needs nothing else. */
export function layoutJsonSchema(): string {
  const { required, ...schema } = z.toJSONSchema(layoutSchema, { io: 'input' });
  const anyOf = [{ required }, { required: ['extends'] }];
  return `${JSON.stringify({ ...schema, anyOf }, null, 2)}\n`;
}
