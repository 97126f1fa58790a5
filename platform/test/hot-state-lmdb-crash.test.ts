import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { expectExact } from './expect-exact.ts'
import { runUntilKilled } from './run-until-killed.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hot-state-crash-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

it('has fence, counters and marks of the same moment after each kill', async () => {
  let before = 0
  for (let run = 0; run < 4; run += 1) {
    await runUntilKilled('hot-state-apply-until-killed.ts', [folder], 20 + Math.random() * 300)
    const hot = await openLmdbHotState({ folder, role: 'projection' })
    const applied = await expectExact(hot)
    expect(applied).toBeGreaterThanOrEqual(before)
    await hot.close()
    before = applied
  }
  expect(before).toBeGreaterThan(0)
}, 120_000)
