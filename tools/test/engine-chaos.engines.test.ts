import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEngineChaos } from '../src/chaos/engines/run-engine-chaos.ts'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'
import { findMissingEngines } from '../../deploy/test/engines/find-missing-engines.ts'

/** Some of the faults of `npm run chaos -- --engines`. */
const plan = ['kill counters', 'suspend ingest', 'kill broker', 'kill Redis', 'kill ClickHouse']
const timeout = 600_000
const missing = await findMissingEngines()

let folder: TemporaryFolder

beforeAll(async () => {
  folder = await makeTemporaryFolder('chaos')
})

afterAll(() => folder.remove())

describe.skipIf(missing.isLeftOut)(`faults of engines and services${missing.title}`, () => {
  it(
    'lose and duplicate no acknowledged unit, and make no limit check wrong',
    { timeout },
    async () => {
      const seed = Date.now() % 2 ** 32
      const chaos = startEngineChaos({
        folder: folder.path,
        environment: process.env,
        seed,
        plan,
        lanes: 8,
        customers: 4,
        timeoutMs: 60_000,
        clickHouseAwayMs: 1_000,
        countersStoppedMs: 3_000,
        print: () => undefined,
        onFault: () => undefined,
        onRound: () => undefined,
      })
      try {
        const rounds = await chaos.rounds
        const wrong = rounds.flatMap(({ fault, differences, problems }) =>
          [...differences, ...problems].map((line) => `${fault}: ${line}`),
        )
        expect(wrong, `seed ${seed}`).toEqual([])
        const acked = rounds.at(-1)!.sums.reduce((sum, each) => sum + each.acked, 0)
        expect(acked).toBeGreaterThan(1_000)
        expect(rounds.at(-1)!.chargedRecords).toBeGreaterThan(100)
      } finally {
        await chaos.end()
      }
    },
  )
})
