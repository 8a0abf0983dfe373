import { describe, expect, it } from 'vitest';
import { type OperationName, operationOf } from '../../src/service/contract.ts';
import { requestFieldsOf } from '../../src/service/reference/operation-fields.ts';
import { isOwnSandbox, isRefusal, type Request, tested, useService } from './service.ts';

const service = useService();

/**
 * The specification does not say whether these operations need a key (Authentication, 5). The sandbox
 * requires one.
 */
const KEY_NOT_SHOWN: readonly OperationName[] = ['get_search', 'database_influencers', 'locations'];

/** The operation to call first so that the example works, whatever was called before. */
const BEFORE: Partial<Record<OperationName, OperationName>> = {
  create_webhook: 'delete_webhook',
  delete_webhook: 'create_webhook',
};

describe('a valid request', () => {
  it.each(tested)('%s answers its example with 2xx and a body that matches the contract', async (name) => {
    const before = BEFORE[name];
    if (before !== undefined) await service.call(before, service.example(before));
    const answer = await service.call(name, service.example(name));
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(200);
    expect(answer.status, answer.text).toBeLessThan(300);
    const read = operationOf(name).response.safeParse(answer.body);
    expect(read.error?.issues ?? []).toEqual([]);
  });

  it.each(
    tested.flatMap((name) =>
      operationOf(name).otherPaths.map((path): [OperationName, string] => [name, path]),
    ),
  )('%s also answers at its other path %s', async (name, path) => {
    const answer = await service.call(name, { ...service.example(name), path });
    expect(answer.status, answer.text).toBe(200);
  });
});

describe('an invalid request', () => {
  it.each(missingFields())(
    '%s without %s is rejected with a message that names the field',
    async (name, field) => {
      const example = service.example(name);
      for (const part of [example.query, example.body]) if (part !== undefined) delete part[field];
      const answer = await service.call(name, example);
      expect(answer, answer.text).toSatisfy(isRefusal);
      expect(answer.text).toContain(field);
    },
  );

  it.each(wrongFields())(
    '%s with %s as %s is rejected with a message that names the field',
    async (name, field, _shown, wrong) => {
      const { place } = requestFieldsOf(operationOf(name));
      const example = service.example(name);
      const answer = await service.call(name, {
        ...example,
        [place]: { ...example[place as 'body'], [field]: wrong },
      });
      expect(answer, answer.text).toSatisfy(isRefusal);
      expect(answer.text).toContain(field);
    },
  );

  it.each(tested.filter((name) => requestFieldsOf(operationOf(name)).rules.length > 0))(
    '%s is rejected without an identifier of the deal',
    async (name) => {
      const example = service.example(name);
      for (const part of [example.query, example.body])
        for (const field of ['deal_id', 'influencer_handle', 'collab_id'])
          if (part !== undefined) delete part[field];
      expect(await service.call(name, example)).toSatisfy(isRefusal);
    },
  );

  it.each(tested.filter((name) => operationOf(name).body !== null))(
    '%s is rejected with a body that is not a JSON object',
    async (name) => {
      for (const body of ['', '{', '[]', 'null', '"text"', '1'])
        expect(await service.call(name, { body }), body).toSatisfy(isRefusal);
    },
  );

  it.each(tested)('%s is rejected at a wrong path', async (name) => {
    const path = `${operationOf(name).path}_`;
    const answer = await service.call(name, { ...service.example(name), path });
    expect(answer.status).toBe(404);
    expect(answer).toSatisfy(isRefusal);
  });
});

describe('authentication', () => {
  const needing = tested.filter(
    (name) => operationOf(name).sendsKey && (isOwnSandbox || !KEY_NOT_SHOWN.includes(name)),
  );
  it.each(needing)('%s is rejected without an API key and with a wrong one', async (name) => {
    for (const key of [null, 'wrong-key']) {
      const answer = await service.call(name, { ...service.example(name), key });
      expect([401, 403]).toContain(answer.status);
      expect(answer).toSatisfy(isRefusal);
    }
  });

  it('public_hello needs no API key', async () => {
    expect(await service.call('public_hello', { key: null })).toMatchObject({ status: 200 });
  });

  it('account_hello identifies the account of the API key', async () => {
    const { body } = await service.call('account_hello');
    expect(body).toMatchObject({ message: expect.stringMatching(/^You are logged in - \S+ - \S+$/) });
  });
});

/** Returns each required field of each operation. */
function missingFields(): readonly [OperationName, string][] {
  return tested.flatMap((name) =>
    requestFieldsOf(operationOf(name))
      .fields.filter(({ isRequired }) => isRequired)
      .map(({ name: field }): [OperationName, string] => [name, field]),
  );
}

/**
 * Returns each field with each value that the contract does not allow there. All values of a query are
 * strings.
 */
function wrongFields(): readonly [OperationName, string, string, unknown][] {
  return tested.flatMap((name) => {
    const operation = operationOf(name);
    const { place, fields } = requestFieldsOf(operation);
    const candidates =
      place === 'query' ? ['', 'no such word'] : [null, true, -1.5, 'no such word', '', [], {}, [{}]];
    const example: Request = service.example(name);
    const fits = (field: string, value: unknown): boolean =>
      (place === 'query' ? operation.query : operation.body)?.safeParse({
        ...(example[place as 'body'] as object | undefined),
        [field]: value,
      }).success ?? true;
    return fields.flatMap(({ name: field }) =>
      candidates
        .filter((value) => !fits(field, value))
        .map((value): [OperationName, string, string, unknown] => [
          name,
          field,
          JSON.stringify(value),
          value,
        ]),
    );
  });
}
