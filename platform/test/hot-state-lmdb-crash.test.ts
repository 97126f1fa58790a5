import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { restoreBatches } from './counted-batches.ts'
import { expectExact } from './expect-exact.ts'
import { expectPublishedExact } from './published-rounds.ts'
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

it('has correct counts after a publisher was killed and the publication is repeated', async () => {
  const killedAt: (string | undefined)[] = []
  for (let run = 0; run < 4; run += 1) {
    const script = 'hot-state-publish-until-killed.ts'
    killedAt.push((await runUntilKilled(script, [folder], 20 + Math.random() * 300)).at(-1))
    const hot = await openLmdbHotState({ folder, role: 'projection' })
    await expectPublishedExact(hot)
    await hot.close()
  }
  expect(killedAt).toContain('publishing')
}, 120_000)

it('keeps the counts in use after a restoring process was killed, and then restores exactly', async () => {
  const killedAt: (string | undefined)[] = []
  for (let run = 0; run < 4; run += 1) {
    const script = 'hot-state-restore-until-killed.ts'
    killedAt.push((await runUntilKilled(script, [folder], 20 + Math.random() * 300)).at(-1))
    const hot = await openLmdbHotState({ folder, role: 'projection' })
    const applied = await expectExact(hot)
    expect(await restoreBatches(hot, applied)).toBe('restored')
    expect(await expectExact(hot)).toBe(applied)
    await hot.close()
  }
  expect(killedAt).toContain('restoring')
}, 120_000)

it('keeps the writes of other processes when one is killed', async () => {
  const hot = await openLmdbHotState({ folder, role: 'publisher' })
  let written = 0
  let isOver = false
  const countUp = async (): Promise<void> => {
    while (!isOver) {
      expect(Number((await hot.readDocument('count')) ?? 0)).toBe(written)
      await hot.putDocument('count', String(written + 1))
      written += 1
    }
  }
  const counting = countUp()
  for (let kill = 0; kill < 10; kill += 1) {
    await runUntilKilled('hot-state-apply-until-killed.ts', [folder], 20 + Math.random() * 100)
  }
  isOver = true
  await counting
  expect(await hot.readDocument('count')).toBe(String(written))
  await hot.close()
}, 120_000)
