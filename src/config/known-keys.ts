import { z } from 'zod';
import type { ConfigPath } from './locate.ts';

/**
 * Lists the valid settings of the section at a path, for "did you mean".
 *
 * @param kind the section's `kind`: for a job, only the settings of this kind are listed.
 */
export type KnownKeys = (path: ConfigPath, kind?: string) => readonly string[];

export function knownKeysOf(schema: z.ZodType): KnownKeys {
  return (path, kind) => knownKeys(schema, path, kind);
}

function knownKeys(schema: z.ZodType, path: ConfigPath, kind: string | undefined): readonly string[] {
  let schemas: z.core.$ZodType[] = [schema];
  for (const part of path) schemas = schemas.flatMap(unwrap).flatMap((schema) => step(schema, String(part)));
  const forms = schemas.flatMap(unwrap);
  const sections = forms.filter((schema) => schema instanceof z.ZodObject);
  const own = sections
    .filter((section) => isOfKind(section, kind))
    .flatMap(({ shape }) => Object.keys(shape));
  const records = forms.filter((schema) => schema instanceof z.ZodRecord);
  const words = records.flatMap(({ keyType }) => (keyType instanceof z.ZodEnum ? keyType.options : []));
  return [...new Set([...own, ...words.map(String)])];
}

function isOfKind(section: z.ZodObject, kind: string | undefined): boolean {
  const own = section.shape.kind;
  return !(own instanceof z.ZodLiteral) || kind === undefined || own.values.has(kind);
}

function step(schema: z.core.$ZodType, key: string): z.core.$ZodType[] {
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  if (schema instanceof z.ZodArray) return [schema.element];
  const child: z.core.$ZodType | undefined = schema instanceof z.ZodObject ? schema.shape[key] : undefined;
  return child === undefined ? [] : [child];
}

/** Removes defaults, nullables, transforms and unions down to the schemas that they wrap. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return unwrap(schema.def.innerType);
  }
  if (schema instanceof z.ZodPipe)
    return unwrap(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(unwrap);
  return [schema];
}
