import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { runUntilKilled } from './run-until-killed.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hot-state-crash-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

it('has fence, counters and marks of the same moment after each kill', async () => {
  const windows = [{ id: 'w', fromSecond: 0, toSecond: 1000 }]
  const subjects = Array.from({ length: 50 }, (_, n) => {
    return { space: 'live', partition: 0, subject: `s${n}`, scope: 'a' }
  })
  let before = 0
  for (let run = 0; run < 4; run += 1) {
    await runUntilKilled('hot-state-apply-until-killed.ts', [folder], 20 + Math.random() * 300)
    const hot = await openLmdbHotState({ folder, role: 'projection' })
    const applied = await hot.appliedOffset('live', 0)
    expect(applied).toBeGreaterThanOrEqual(before)
    // The first run finds no entries, so its use waits in slots.
    for (const at of subjects) await hot.putEntry(at, { version: 1, document: '{}', windows })
    let total = 0n
    for (const at of subjects) total += (await hot.readEntry(at, 'calls')).amounts.get('w') ?? 0n
    expect(total).toBe(BigInt(applied))
    const ids = Array.from({ length: applied + 100 }, (_, n) => `id ${n}`)
    const marks = await hot.readMarks('live', 0, ids)
    expect(marks.findIndex((offset, n) => offset !== (n < applied ? n : undefined))).toBe(-1)
    await hot.close()
    before = applied
  }
  expect(before).toBeGreaterThan(0)
}, 120_000)
