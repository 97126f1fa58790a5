import { expect, it } from 'vitest'
import { listTotalledRanges } from './totalled-ranges.ts'

/** Returns how many of 2,000 ranges of one record are read, which begin every `distance` offsets. */
async function readRanges(distance: number): Promise<number> {
  const rows = Array.from({ length: 2_000 }, (_, at) => ({
    partition: '0',
    fromOffset: String(10_000 - at * distance),
    toOffset: String(10_001 - at * distance),
    version: String(at),
  }))
  const store = { query: async <Row>(): Promise<Row[]> => rows as Row[] }
  const totals = { generation: 'g', incarnation: 'i' }
  const parts = [{ partition: 0, beforeOffset: 20_000, totals }]
  return (await listTotalledRanges(store, 'sandbox', parts)).length
}

it('reads every adjacent range, but few ranges with gaps, which would make the query too long', async () => {
  expect(await readRanges(1)).toBe(2_000)
  expect(await readRanges(2)).toBe(500)
})
