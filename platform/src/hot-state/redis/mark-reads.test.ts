import { expect, it } from 'vitest'
import { MarkReads } from './mark-reads.ts'

type Call = { readonly place: string; readonly ids: readonly string[]; readonly readers: number }

const first = { space: 'live', partition: 1 }
const second = { space: 'live', partition: 2 }

function marksOf(calls: Call[], offsets: ReadonlyMap<string, string>): MarkReads {
  return new MarkReads(({ space, partition }, ids, readers) => {
    calls.push({ place: `${space}/${partition}`, ids, readers })
    return Promise.resolve(ids.map((id) => offsets.get(id) ?? null))
  })
}

it('reads the ids of one turn in one call per partition, and answers each reader', async () => {
  const calls: Call[] = []
  const offsets = { a: '7', c: '0' }
  const marks = marksOf(calls, new Map(Object.entries(offsets)))
  const answers = await Promise.all([
    marks.read(first, ['a', 'b']),
    marks.read(second, ['c']),
    marks.read(first, []),
    marks.read({ space: 'sandbox', partition: 1 }, ['c']),
    marks.read(first, ['c', 'a']),
  ])
  expect(answers).toEqual([[7, undefined], [0], [], [0], [0, 7]])
  expect(calls).toEqual([
    { place: 'live/1', ids: ['a', 'b', 'c', 'a'], readers: 3 },
    { place: 'live/2', ids: ['c'], readers: 1 },
    { place: 'sandbox/1', ids: ['c'], readers: 1 },
  ])
  expect(await marks.read(first, ['a'])).toEqual([7])
  expect(calls).toHaveLength(4)
})

it('begins a further call after 1,000 ids', async () => {
  const calls: Call[] = []
  const marks = marksOf(calls, new Map([['x', '3']]))
  const many = Array.from({ length: 600 }, (_, at) => `${at}`)
  const answers = await Promise.all([many, many, ['x']].map((ids) => marks.read(first, ids)))
  expect(answers[2]).toEqual([3])
  expect(calls.map(({ ids, readers }) => [ids.length, readers])).toEqual([
    [1_200, 2],
    [1, 1],
  ])
})

it('rejects all readers of a call that failed, and no others', async () => {
  const marks = new MarkReads(({ partition }, ids) =>
    partition === 1 ? Promise.reject(new Error('gone')) : Promise.resolve(ids.map(() => null)),
  )
  const results = await Promise.allSettled([
    marks.read(first, ['a']),
    marks.read(second, ['a']),
    marks.read(first, ['b']),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
})
