import { afterAll, beforeAll, expect, test } from 'vitest'
import { runChaos, type Victim } from '../src/chaos/run-chaos.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/instance/temporary-folder.ts'
import { findFreePort } from '../src/standalone/ports.ts'

/** The short version of `npm run chaos`. */
const victims: readonly Victim[] = [
  'tree',
  'aggregator-counters',
  'aggregator-sink',
  'tree',
  'chdb-gateway',
  'ingest',
  'control-plane',
  'postgres',
  'tree',
]

let folder: TemporaryFolder

beforeAll(async () => {
  folder = await makeTemporaryFolder('chaos')
})

afterAll(() => folder.remove())

test(
  'whatever is killed, acked = counted = stored, to the unit',
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
      victims,
      lanes: 8,
      customers: 4,
      patienceMs: 60_000,
      onRound: () => undefined,
    })
    expect(rounds.filter((round) => !round.isExact)).toEqual([])
    expect(rounds.at(-1)?.sums.acked, `seed ${seed}`).toBeGreaterThan(1_000)
  },
)
