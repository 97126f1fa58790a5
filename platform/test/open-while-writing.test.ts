import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commit } from '../src/lmdb/commit.ts'
import { openCountedEnvironment, readCount } from './open-counted-environment.ts'
import { runUntilKilled } from './run-until-killed.ts'

test('keeps every commit while other processes open the environment and are killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'open-while-writing-'))
  const store = await openCountedEnvironment(folder)
  const key = Buffer.from('own')
  let isOver = false
  let written = 0
  const countUp = async () => {
    while (!isOver) {
      store.resetReadTxn()
      expect(readCount(store, key)).toBe(written)
      const next = Buffer.from(String(written + 1))
      await commit(store, () => store.put(key, next))
      written += 1
    }
  }
  const openings = ['a', 'b', 'c'].map(async (name) => {
    let opened = 0
    for (let kill = 0; kill < 4; kill += 1) {
      const lines = await runUntilKilled(
        'open-until-killed.ts',
        [folder, name],
        Math.random() * 1_000,
      )
      expect(Number(lines[0])).toBeGreaterThan(opened)
      opened = Number(lines.at(-1))
    }
    return opened
  })
  const counting = countUp()
  const opened = await Promise.all(openings).finally(() => (isOver = true))
  await counting
  expect(Math.min(...opened)).toBeGreaterThan(10)
  await store.close()
  await rm(folder, { recursive: true })
}, 120_000)
