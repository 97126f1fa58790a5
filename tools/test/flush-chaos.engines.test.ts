import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { totalOf } from '../src/chaos/engines/engine-sums.ts'
import { isFlushExact } from '../src/chaos/flush/flush-report.ts'
import { startFlush } from '../src/chaos/flush/run-flush.ts'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'
import { findMissingEngines } from '../../deploy/test/engines/find-missing-engines.ts'

/** The short version of `npm run chaos -- --engines --flush`. */
const customers = 300
const timeout = 300_000
const missing = await findMissingEngines()

let folder: TemporaryFolder

beforeAll(async () => {
  folder = await makeTemporaryFolder('flush')
})

afterAll(() => folder.remove())

describe.skipIf(missing.isLeftOut)(`FLUSHALL under load${missing.title}`, () => {
  it(
    'loses and duplicates no usage of any customer, and every limit check is correct',
    { timeout },
    async () => {
      const flush = startFlush({
        folder: folder.path,
        environment: process.env,
        seed: Date.now() % 2 ** 32,
        customers,
        rate: 500,
        beforeMs: 3_000,
        afterMs: 1_000,
        replayRecordsMax: 0,
        timeoutMs: 60_000,
        print: () => undefined,
      })
      try {
        const outcome = await flush.outcome
        expect(outcome.differences).toEqual([])
        expect(isFlushExact(outcome)).toBe(true)
        expect(outcome.meanwhile.limitChecks.answered).toBeGreaterThan(0)
        expect(outcome.sums).toHaveLength(customers)
        expect(totalOf(outcome.sums).acked).toBeGreaterThan(customers)
      } finally {
        await flush.end()
      }
    },
  )
})
