import { expect, test } from 'vitest'
import { readBrokers } from './kafka-question.ts'

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
  ['none', answerOf(), []],
  ['one without a rack', answerOf(broker(1, noText)), [1]],
  [
    'some with one',
    answerOf(broker(3, text('west')), broker(1, noText), broker(2, [0, 0])),
    [3, 1, 2],
  ],
])('reads the numbers of the brokers: %s', (_, answer, expected) => {
  expect(readBrokers(answer)).toEqual(expected)
})
