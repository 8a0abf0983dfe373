import { describe, expect, it } from 'vitest';
import { regionOfQueue } from '../../src/store/queue/open-queue.ts';
import { readEvent } from '../../src/store/queue/take-events.ts';
import { bridgedEvent, bySns, s3Event, TEST_EVENT } from '../support/sqs-server.ts';

const BUCKET = 'acme-exports';

describe('a message of a queue of S3 events', () => {
  it('announces the objects of its records, whose keys are encoded like a form', () => {
    const keys = ['orders/a b+c.csv', 'orders/ä%2F.csv', 'orders/2026:11.csv'];
    const expected = keys.map((key) => ({ bucket: BUCKET, key }));
    const body = s3Event('ObjectCreated:Put', BUCKET, ...keys);
    expect(body).toContain('a+b%2Bc.csv');
    expect(readEvent(body)).toEqual(expected);
    expect(readEvent(bySns(body))).toEqual(expected);
    expect(readEvent(s3Event('s3:ObjectCreated:CompleteMultipartUpload', BUCKET, ...keys))).toEqual(expected);
  });

  it('announces the object of an event of EventBridge, whose key is not encoded', () => {
    const key = 'orders/a+b%20c:1.csv';
    const event = bridgedEvent('Object Created', BUCKET, key);
    expect(readEvent(event)).toEqual([{ bucket: BUCKET, key }]);
    expect(readEvent(bySns(event))).toEqual([{ bucket: BUCKET, key }]);
  });

  it('announces an object that was restored from an archive', () => {
    const expected = [{ bucket: BUCKET, key: 'o.csv' }];
    expect(readEvent(s3Event('ObjectRestore:Completed', BUCKET, 'o.csv'))).toEqual(expected);
    expect(readEvent(bridgedEvent('Object Restore Completed', BUCKET, 'o.csv'))).toEqual(expected);
  });

  it.each([
    ['the test event', TEST_EVENT],
    ['the test event through SNS', bySns(TEST_EVENT)],
    ['a removal', s3Event('ObjectRemoved:Delete', BUCKET, 'o.csv')],
    ['the start of a restore', s3Event('ObjectRestore:Post', BUCKET, 'o.csv')],
    ['a removal by EventBridge', bridgedEvent('Object Deleted', BUCKET, 'o.csv')],
    ['no records', '{"Records": []}'],
  ])('announces nothing if it is %s', (_, body) => {
    expect(readEvent(body)).toEqual([]);
  });

  it.each([
    ['no JSON', 'hello'],
    ['a JSON array', '[]'],
    ['null', 'null'],
    ['another program’s message', '{"task": "resize"}'],
    ['a record of another service', '{"Records": [{"eventSource": "aws:dynamodb", "eventName": "INSERT"}]}'],
    ['a record that is null', '{"Records": [null]}'],
    [
      'a key that is not encoded correctly',
      s3Event('ObjectCreated:Put', BUCKET, 'KEY').replace('KEY', '%zz'),
    ],
    ['a key with a NUL', bridgedEvent('Object Created', BUCKET, 'a\0b')],
    ['a key with half a surrogate pair', bridgedEvent('Object Created', BUCKET, 'a\ud800b')],
    ['a record without a key', s3Event('ObjectCreated:Put', BUCKET, 'KEY').replace('"KEY"', '7')],
    ['a call that CloudTrail logged', bridgedEvent('AWS API Call via CloudTrail', BUCKET, 'o.csv')],
    ['a notification of SNS about something else', bySns('disk full')],
    ['endless wrappers', bySns(bySns(TEST_EVENT))],
  ])('is not understood if it is %s', (_, body) => {
    expect(readEvent(body)).toBeNull();
  });
});

describe('the region of a queue', () => {
  it.each([
    ['https://sqs.eu-west-1.amazonaws.com/1/q', 'eu-west-1'],
    ['https://sqs.cn-north-1.amazonaws.com.cn/1/q', 'cn-north-1'],
    ['https://sqs-fips.us-gov-west-1.amazonaws.com/1/q', 'us-gov-west-1'],
    ['https://vpce-0ab-1cd.sqs.eu-central-1.vpce.amazonaws.com/1/q', 'eu-central-1'],
    ['https://eu-west-2.queue.amazonaws.com/1/q', 'eu-west-2'],
    ['http://sqs.eu-west-1.localhost.localstack.cloud:4566/1/q', 'eu-west-1'],
    ['http://localhost:9324/1/q', null],
  ])('of %s is %s', (url, region) => {
    expect(regionOfQueue(url)).toBe(region);
  });
});
