import { expect, test } from 'vitest'
import { readBrokers, readUnderReplicated } from './kafka-metadata.ts'

const int32 = (value: number): number[] => [...Buffer.from(Int32Array.of(value).buffer).reverse()]
const text = (value: string): number[] => [0, value.length, ...Buffer.from(value)]
const noText = [0xff, 0xff]

function answerOf(...brokers: number[][]): Buffer {
  const body = [...int32(1), ...int32(brokers.length), ...brokers.flat(), ...int32(1), ...int32(0)]
  return Buffer.from([...int32(body.length), ...body])
}

const broker = (id: number, rack: number[]): number[] => [
  ...int32(id),
  ...text('127.0.0.1'),
  ...int32(9092),
  ...rack,
]

test.each([
  ['no brokers', answerOf(), []],
  ['one broker without a rack', answerOf(broker(1, noText)), [1]],
  [
    'several brokers, some with a rack',
    answerOf(broker(3, text('west')), broker(1, noText), broker(2, [0, 0])),
    [3, 1, 2],
  ],
])('reads the ids of %s', (_, answer, expected) => {
  expect(readBrokers(answer)).toEqual(expected)
})

test('counts the partitions of all topics that lack an in-sync replica', () => {
  const list = (items: number[][]): number[] => [...int32(items.length), ...items.flat()]
  const partition = (copies: number[], inSync: number[]): number[] => [
    ...[0, 0],
    ...int32(0),
    ...int32(copies[0]!),
    ...list(copies.map(int32)),
    ...list(inSync.map(int32)),
  ]
  const topic = (name: string, ...partitions: number[][]): number[] => [
    ...[0, 0],
    ...text(name),
    0,
    ...list(partitions),
  ]
  const body = [
    ...int32(1),
    ...list([broker(1, noText), broker(2, text('west'))]),
    ...int32(1),
    ...list([
      topic('live', partition([1, 2, 3], [1, 2, 3]), partition([1, 2, 3], [3])),
      topic('sandbox', partition([2, 1, 3], [2, 1])),
      topic('empty'),
    ]),
  ]
  expect(readUnderReplicated(Buffer.from([...int32(body.length), ...body]))).toBe(2)
})
