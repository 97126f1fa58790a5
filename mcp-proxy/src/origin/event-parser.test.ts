import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventParser, EventTooLargeError } from './event-parser.ts'

const event = (data: string, id?: string, retryMs?: number) => ({ data, id, retryMs })

test.each([
  ['data: a\n\n', [event('a')]],
  ['data:a\ndata: b\n\n', [event('a\nb')]],
  ['data:  a\r\n\r\n', [event(' a')]],
  ['event: message\rid: 7\rretry: 5\rdata: a\r\r', [event('a', '7', 5)]],
  ['id: 7\ndata\n\n', [event('', '7')]],
  [': comment\n\ndata: a\n\n', [event('a')]],
  ['data: unfinished\n', []],
  ['retry: x\nother: y\ndata: a\n\n', [event('a')]],
])('parses %j for every division into chunks', (text, expected) => {
  expect(new EventParser(100).push(text)).toEqual(expected)
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 5 }), (cuts) => {
      const parser = new EventParser(100)
      const places = [0, ...cuts.sort((a, b) => a - b), text.length]
      const pieces = places.slice(1).map((to, at) => text.slice(places[at], to))
      expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(expected)
    }),
  )
})

test('limits the size of one event, but not the number of short events', () => {
  const parser = new EventParser(20)
  for (let at = 0; at < 100; at += 1) expect(parser.push('data: short\n\n')).toHaveLength(1)
  expect(() => parser.push('x'.repeat(21))).toThrow(EventTooLargeError)
  const lines = new EventParser(20)
  expect(() => lines.push('data: 123456\ndata: 123456\ndata: 123456\ndata: 1')).toThrow(
    EventTooLargeError,
  )
})
