import { afterAll, beforeAll, expect, test } from 'vitest'
import { runChaos } from '../src/chaos/run-chaos.ts'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'
import { findFreePort } from '@tollgate/deploy/standalone/ports'

/** The short version of `npm run chaos`. Kills during a start have their own test. */
const plan = [
  'tree',
  'aggregator-sink',
  'counters stopped',
  'damaged segment',
  'older ClickHouse',
  'postgres',
]

let folder: TemporaryFolder

beforeAll(async () => {
  folder = await makeTemporaryFolder('chaos')
})

afterAll(() => folder.remove())

test(
  'logs, counts and stores exactly what was sent, after every kill, loss and damage',
  { timeout: 300_000 },
  async () => {
    const seed = Date.now() % 2 ** 32
    const rounds = await runChaos({
      instance: {
        dataDir: folder.path,
        port: await findFreePort(new Set()),
        environment: process.env,
      },
      seed,
      plan,
      lanes: 3,
      customers: 4,
      countersStoppedMs: 3_000,
      timeoutMs: 60_000,
      onRound: () => undefined,
    })
    expect(rounds.filter((round) => !round.isExact)).toEqual([])
    expect(rounds.at(-1)?.sums.acked, `seed ${seed}`).toBeGreaterThan(1_000)
    expect(rounds.at(-1)?.chargedRecords, `seed ${seed}`).toBeGreaterThan(100)
  },
)
