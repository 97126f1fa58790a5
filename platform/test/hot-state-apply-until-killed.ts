import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'

/* Applies batches until it is killed: record n is one use of 1 by subject n % 50, keyed by the mark `id n`. */
const [folder] = process.argv.slice(2) as [string]
const hot = await openLmdbHotState({ folder, role: 'projection' })
process.stdout.write('started\n')
for (let offset = await hot.appliedOffset('live', 0); ; offset += 100) {
  const numbers = Array.from({ length: 100 }, (_, n) => offset + n)
  await hot.apply({
    space: 'live',
    partition: 0,
    expectedOffset: offset,
    nextOffset: offset + 100,
    marks: numbers.map((n) => ({ id: `id ${n}`, offset: n, receivedAtMs: 1 })),
    increments: numbers.map((n) => {
      const scope = n % 2 === 0 ? '' : 'a'
      return { subject: `s${n % 50}`, scope, series: 'calls', second: 1 + (n % 100), amount: 1n }
    }),
  })
}
