import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  toJsonArrayParameter,
  toTextArrayParameter,
  toUuidArrayParameter,
} from '../../src/db/array-parameters.ts';
import { ENGINES, useDatabase } from '../intake/story.ts';

describe.each(ENGINES)('an array of UUIDs on %s', (engine) => {
  const database = useDatabase(engine);

  it.each([0, 1, 2, 5_000])('arrives unchanged with %i elements', async (count) => {
    const uuids = Array.from({ length: count }, () => randomBytes(16).toString('hex'));
    const { rows } = await sql<{ type: string; uuids: string[] | null }>`
      select pg_typeof(given)::text as type,
        (select array_agg(replace(u::text, '-', '') order by place) from unnest(given) with ordinality as g(u, place)) as uuids
      from (select ${toUuidArrayParameter(uuids)}::uuid[] as given) as g`.execute(database());
    expect(rows).toEqual([{ type: 'uuid[]', uuids: count === 0 ? null : uuids }]);
  });
});

describe.each(ENGINES)('an array of texts on %s', (engine) => {
  const database = useDatabase(engine);

  it('arrives unchanged, but without what Postgres refuses in text', async () => {
    const texts = ['', ' ', 'null', 'NULL', null, 'a,b', '{a}', '"', '\\', 'a\\"b', "'", '\n\t', 'é😀'];
    const given = toTextArrayParameter([...texts, 'a\0b', 'a\ud800b']);
    const { rows } = await sql<{ texts: string[] }>`select ${given}::text[] as texts`.execute(database());
    expect(rows).toEqual([{ texts: [...texts, 'ab', 'a\ufffdb'] }]);
  });

  it('is null if all texts are', () => {
    expect(toTextArrayParameter([null, null])).toBeNull();
    expect(toTextArrayParameter([''])).toBe('{""}');
  });
});

describe.each(ENGINES)('an array of JSON on %s', (engine) => {
  const database = useDatabase(engine);

  it('arrives unchanged', async () => {
    const values = [{ a: 'é😀"\\{},' }, [], 'null', 12.5, true, {}, { b: [null, 'x'] }];
    const texts = [...values.map((value) => JSON.stringify(value)), null];
    const { rows } = await sql<{ type: string; values: unknown[] }>`
      select pg_typeof(given)::text as type, given as values
      from (select ${toJsonArrayParameter(texts)}::jsonb[] as given) as g`.execute(database());
    expect(rows).toEqual([{ type: 'jsonb[]', values: [...values, null] }]);
  });

  it('is null if all texts are', () => {
    expect(toJsonArrayParameter([null, null])).toBeNull();
    expect(toJsonArrayParameter([])).toBeNull();
  });
});
