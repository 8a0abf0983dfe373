import { z } from 'zod';
import { layoutSchema } from './layout-schema.ts';

/** The JSON Schema of `config/layouts/*.yaml` for editors. */
export function layoutJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(layoutSchema, { io: 'input' }), null, 2)}\n`;
}
