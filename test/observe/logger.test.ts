import { expect, test } from 'vitest';
import { KnownError } from '../../src/model/known-error.ts';
import { createLogger } from '../../src/observe/logger.ts';

function logged(
  level: string | undefined,
  write: (logger: ReturnType<typeof createLogger>) => void,
  isInteractive = false,
): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLogger({ level, isInteractive, stream: { write: (line) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('ids, counts and our own words pass; other text is left out', () => {
  const [line] = logged('info', (logger) =>
    logger.child({ run_id: '12', note: 'planted' }).info(
      {
        order_id: '1001',
        orders: 3,
        job: 'attribute-orders',
        email: 'ann@example.com',
        api_key: 'planted',
        row: { Total: 'planted', line_no: 4 },
        list: ['planted'],
        excluded: { status_authorized: 2 },
      },
      'sealed',
    ),
  );
  expect(line).toMatchObject({
    level: 'info',
    msg: 'sealed',
    run_id: '12',
    order_id: '1001',
    orders: 3,
    job: 'attribute-orders',
    row: { line_no: 4 },
    excluded: { status_authorized: 2 },
  });
  expect(JSON.stringify(line)).not.toMatch(/planted|ann@/);
});

test('an address under the key of an id is left out too', () => {
  expect(
    JSON.stringify(logged('info', (logger) => logger.info({ customer_id: 'ann@example.com' }, 'x'))),
  ).not.toContain('ann@');
});

test('an error is its name, its code and its place, since its message may quote a row', () => {
  const error = Object.assign(new TypeError('bad value "planted"'), { code: '22P02' });
  const [line] = logged('info', (logger) => logger.error({ err: error, other: error }, 'failed'));
  expect(line).toMatchObject({ err: { name: 'TypeError', code: '22P02' }, other: { name: 'TypeError' } });
  expect(JSON.stringify(line)).not.toContain('planted');
});

test('an error that we know is named by its code', () => {
  const details = { code: 'key_refused', message: 'planted', help: '', exitCode: 4 } as const;
  const [line] = logged('info', (logger) => logger.error(new KnownError(details), 'failed'));
  expect(line).toMatchObject({ err: { code: 'key_refused' } });
  expect(JSON.stringify(line)).not.toContain('planted');
});

test('a bare error keeps to the same rule', () => {
  expect(JSON.stringify(logged('info', (logger) => logger.error(new Error('planted'))))).not.toContain(
    'planted',
  );
});

test('nothing is put into a message, and a message is needed', () => {
  expect(logged('info', (logger) => logger.info('100 % of %s', 'planted'))).toMatchObject([
    { msg: '100 % of %s' },
  ]);
  expect(
    JSON.stringify(logged('info', (logger) => logger.info({ err: new Error('planted') }))),
  ).not.toContain('planted');
});

test('a terminal gets no lines unless LOG_LEVEL asks for them', () => {
  expect(logged(undefined, (logger) => logger.error('x'), true)).toEqual([]);
  expect(logged('warn', (logger) => logger.error('x'), true)).toHaveLength(1);
  expect(logged('nonsense', (logger) => logger.info('x'))).toHaveLength(1);
  expect(logged('silent', (logger) => logger.error('x'))).toEqual([]);
});
