import { createParser, type EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import { SseSerializer } from 'millrace';
import { describe, expect, test } from 'vitest';
import { expectInvalid } from '../../bad-input/refusals.ts';

const sse = new SseSerializer();

function parse(text: string) {
  const messages: EventSourceMessage[] = [];
  const retries: number[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    onRetry: (ms) => retries.push(ms),
    onComment: (comment) => comments.push(comment),
  });
  parser.feed(text);
  return { messages, retries, comments };
}

describe('an event', () => {
  test('is its fields in lines, and ends with an empty one', () => {
    expect(sse.message({ event: 'job:completed', id: '7', data: '{}' })).toBe(
      'event: job:completed\nid: 7\ndata: {}\n\n',
    );
    expect(sse.message({ data: '' })).toBe('data: \n\n');
  });

  test.each(['a\nb', 'a\rb', 'a\r\nb', '\n', 'a\n\nid: 5\n', ' leading', ': x'])(
    'splits its data %j into lines',
    (data) => {
      const text = sse.message({ event: 'e', data });
      expect(text.split('\n').slice(1, -2)).toEqual(data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`));
      expect(parse(text).messages).toEqual([{ event: 'e', id: undefined, data: data.replace(/\r\n|\r/g, '\n') }]);
    },
  );

  test('comes back from a parser as it went in, whatever it holds', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n\0]/.test(text));
    fc.assert(
      fc.property(line, line, fc.string({ unit: 'grapheme' }), (event, id, data) => {
        const { messages } = parse(sse.message({ event, id, data }) + sse.message({ data: 'next' }));
        expect(messages).toEqual([
          { event: event || undefined, id, data: data.replace(/\r\n|\r/g, '\n') },
          { event: undefined, id: undefined, data: 'next' },
        ]);
      }),
    );
  });

  const refused: readonly (readonly [field: string, message: object])[] = [
    ...['a\nb', 'a\rb', 'a\n', '\0', 5, null].flatMap((value) => [
      ['event', { event: value, data: '' }] as const,
      ['id', { id: value, data: '' }] as const,
    ]),
    ['data', {}],
    ['data', { data: { job: 1 } }],
  ];
  test.each(refused)('with a wrong %s is refused: %j', async (field, message) => {
    await expectInvalid(() => sse.message(message as { data: string }), field);
  });
});

test('a retry line is a whole number of milliseconds', async () => {
  expect(parse(sse.retry(1_500)).retries).toEqual([1_500]);
  for (const ms of [-1, 1.5, Number.NaN, '5']) await expectInvalid(() => sse.retry(ms as number), 'retry');
});

test('a comment is nothing to a client, whatever is in it', () => {
  expect(parse(sse.comment('one\ndata: two\r\n\r\ndata: three'))).toEqual({
    messages: [],
    retries: [],
    comments: ['one', 'data: two', '', 'data: three'],
  });
});
