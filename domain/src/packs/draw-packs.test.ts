import { expect, test } from 'vitest'
import { drawPacks, type DrawablePack } from './draw-packs.ts'

const day = (date: number): Date => new Date(Date.UTC(2026, 5, date))
const june = { end: day(31) }

type NamedPack = DrawablePack & { readonly name: string }

const pack = (name: string, units: number, from: number, until?: number): NamedPack => ({
  name,
  leftMicros: BigInt(units),
  startsAt: day(from),
  endsAt: until === undefined ? null : day(until),
})

const drawn = (packs: readonly NamedPack[], excess: number, span = june) =>
  drawPacks(packs, span, BigInt(excess)).map((draw) => [draw.pack.name, Number(draw.micros)])

test('draws first from the pack that ends first, then from the oldest', () => {
  const packs = [
    pack('young', 5, 9),
    pack('old', 5, 2),
    pack('late', 5, 1, 50),
    pack('soon', 5, 8, 40),
  ]
  expect(drawn(packs, 3)).toEqual([['soon', 3]])
  expect(drawn(packs, 12)).toEqual([
    ['soon', 5],
    ['late', 5],
    ['old', 2],
  ])
  expect(drawn(packs, 100)).toHaveLength(4)
})

test('draws nothing without excess, and nothing from an empty pack', () => {
  expect(drawn([pack('one', 5, 1)], 0)).toEqual([])
  expect(drawn([pack('one', 5, 1)], -3)).toEqual([])
  expect(drawn([pack('empty', 0, 1), pack('one', 5, 2)], 1)).toEqual([['one', 1]])
})

test.each([
  ['began with the span', 1, undefined, 2],
  ['began within the span', 20, undefined, 2],
  ['began at its end', 31, undefined, 0],
  ['ends within the span', 1, 30, 2],
])('a pack that %s pays for so many units', (_, from, until, units) => {
  const draws = drawn([pack('one', 5, from, until)], 2)
  expect(draws).toEqual(units === 0 ? [] : [['one', units]])
})
