import { expect, test } from 'vitest';
import { KnownError } from '../../../src/core/known-error.ts';
import { createLogger } from '../../../src/monitoring/observe/logger.ts';

function logged(
  level: string | undefined,
  write: (logger: ReturnType<typeof createLogger>) => void,
  isInteractive = false,
): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLogger({ level, isInteractive, stream: { write: (line) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the logger writes ids, counts and fixed terms and omits other text', () => {
  const [line] = logged('info', (logger) =>
    logger
      .child({ run_id: '12', note: 'planted' })
      .info(
        {
          order_id: '1001',
          orders: 3,
          job: 'attribute-orders',
          service: 'https://api.example.com',
          ledger: '10.0.0.5:5432/shop',
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
    service: 'https://api.example.com',
    ledger: '10.0.0.5:5432/shop',
    row: { line_no: 4 },
    excluded: { status_authorized: 2 },
  });
  expect(JSON.stringify(line)).not.toMatch(/planted|ann@/);
});

test('the logger omits an email address under the key of an id', () => {
  expect(
    JSON.stringify(logged('info', (logger) => logger.info({ customer_id: 'ann@example.com' }, 'x'))),
  ).not.toContain('ann@');
});

test('the logger writes the name and code of an error but not its message, which may quote a row', () => {
  const error = Object.assign(new TypeError('bad value "planted"'), { code: '22P02' });
  const [line] = logged('info', (logger) => logger.error({ err: error, other: error }, 'failed'));
  expect(line).toMatchObject({ err: { name: 'TypeError', code: '22P02' }, other: { name: 'TypeError' } });
  expect(JSON.stringify(line)).not.toContain('planted');
});

test('the logger writes a known error by its code', () => {
  const details = { code: 'key_refused', message: 'planted', help: '', exitCode: 4 } as const;
  const [line] = logged('info', (logger) => logger.error(new KnownError(details), 'failed'));
  expect(line).toMatchObject({ err: { code: 'key_refused' } });
  expect(JSON.stringify(line)).not.toContain('planted');
});

test('the logger omits the message of an error that is passed without an object', () => {
  expect(JSON.stringify(logged('info', (logger) => logger.error(new Error('planted'))))).not.toContain(
    'planted',
  );
});

test('the logger does not interpolate values into a message or copy the message of an error', () => {
  expect(logged('info', (logger) => logger.info('100 % of %s', 'planted'))).toMatchObject([
    { msg: '100 % of %s' },
  ]);
  expect(
    JSON.stringify(logged('info', (logger) => logger.info({ err: new Error('planted') }))),
  ).not.toContain('planted');
});

test('the logger writes no lines to a terminal unless LOG_LEVEL is set', () => {
  expect(logged(undefined, (logger) => logger.error('x'), true)).toEqual([]);
  expect(logged('warn', (logger) => logger.error('x'), true)).toHaveLength(1);
  expect(logged('nonsense', (logger) => logger.info('x'))).toHaveLength(1);
  expect(logged('silent', (logger) => logger.error('x'))).toEqual([]);
});
