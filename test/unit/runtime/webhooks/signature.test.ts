import { createHmac } from 'node:crypto';
import { InvalidInputError, MillraceError } from 'millrace';
import { verifyWebhook, type WebhookToVerify, WebhookVerificationError } from 'millrace/webhooks';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from '../../../../src/runtime/edges/webhooks/signature.ts';
import { secretKeys } from '../../../../src/runtime/webhook-options.ts';

const T0 = 1_700_000_000_000;
const BODY = JSON.stringify({ type: 'job:completed', at: T0, job: { id: 'j', data: 'süß' } });

function sign(secret: string | readonly string[], body = BODY, at = T0) {
  return signedHeaders(secretKeys(secret, 'secret'), 'msg_1', at, body);
}

function verify(change: Partial<WebhookToVerify> = {}) {
  return verifyWebhook({ body: BODY, headers: sign('s3cret'), secret: 's3cret', now: T0, ...change });
}

describe('signing', () => {
  test('the plain signature is the HMAC SHA-256 of the body in hexadecimal', () => {
    const hex = createHmac('sha256', 's3cret').update(BODY).digest('hex');
    expect(sign('s3cret')['X-JobQueue-Signature']).toBe(`sha256=${hex}`);
  });

  test('the example of the Standard Webhooks specification comes out as it says', () => {
    const keys = secretKeys('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'secret');
    const headers = signedHeaders(keys, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, '{"test": 2432232314}');
    expect(headers).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('without a secret there are no signatures, but still an id and a time', () => {
    expect(signedHeaders([], 'msg_1', T0, BODY)).toEqual({ 'webhook-id': 'msg_1', 'webhook-timestamp': '1700000000' });
  });

  test('every secret of several signs, the first one also the plain way', () => {
    const headers = sign(['new', 'old']);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(headers['X-JobQueue-Signature']).toBe(sign('new')['X-JobQueue-Signature']);
  });
});

describe('verifying', () => {
  test.each([
    ['a string', BODY],
    ['a Buffer', Buffer.from(BODY)],
    ['bytes', new TextEncoder().encode(BODY)],
  ])('answers with the event when the body is %s', (_, body) => {
    expect(verify({ body })).toEqual(JSON.parse(BODY));
  });

  test('reads headers of fetch, of Node and in any case', () => {
    const headers = sign('s3cret');
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const each of [headers, shouted, new Headers(headers)]) expect(verify({ headers: each })).toBeDefined();
  });

  test.each([
    ['the secret is another', { secret: 'other' }],
    ['the body was changed', { body: `${BODY} ` }],
    ['the id was changed', { headers: { ...sign('s3cret'), 'webhook-id': 'msg_2' } }],
    ['the time was changed', { headers: { ...sign('s3cret'), 'webhook-timestamp': '1700000001' } }],
    ['the signature is another version’s', { headers: { ...sign('s3cret'), 'webhook-signature': 'v2,AAAA' } }],
    ['the signature is too short', { headers: { ...sign('s3cret'), 'webhook-signature': 'v1,AAAA' } }],
    ['the signature is missing', { headers: { ...sign('s3cret'), 'webhook-signature': undefined } }],
    ['the id is missing', { headers: { ...sign('s3cret'), 'webhook-id': undefined } }],
    ['the time is no time', { headers: { ...sign('s3cret'), 'webhook-timestamp': 'now' } }],
    ['it was sent more than five minutes ago', { now: T0 + 300_001 }],
    ['it was sent more than five minutes ahead', { now: T0 - 300_001 }],
    ['it is older than the given tolerance', { now: T0 + 1_001, toleranceMs: 1_000 }],
  ] as const)('refuses when %s', (_, change) => {
    expect(() => verify(change)).toThrow(WebhookVerificationError);
    expect(() => verify(change)).toThrow(MillraceError);
  });

  test('a secret that is being replaced is known by either side', () => {
    expect(verify({ headers: sign(['new', 'old']), secret: 'old' })).toBeDefined();
    expect(verify({ headers: sign('old'), secret: ['new', 'old'] })).toBeDefined();
  });

  test('a genuine signature counts beside a false one', () => {
    const headers = sign('s3cret');
    const both = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
    expect(verify({ headers: both })).toBeDefined();
  });

  test.each([
    ['secret', { secret: '' }],
    ['secret', { secret: 'whsec_not base64!' }],
    ['secret', { secret: [] }],
    ['secret[1]', { secret: ['a', 5] }],
    ['body', { body: JSON.parse(BODY) }],
    ['toleranceMs', { toleranceMs: -1 }],
  ])('a wrong %s is the caller’s mistake, not the sender’s', (field, change) => {
    expect(() => verify(change as never)).toThrow(InvalidInputError);
    expect(() => verify(change as never)).toThrow(field);
  });
});
