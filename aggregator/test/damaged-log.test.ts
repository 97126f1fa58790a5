import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { damageSegment, sealedSegments } from '@tollgate/platform/testing/damage-segment'
import type { Aggregator } from '../src/service.ts'
import { expectExactlyOnce, ExpectedUsage } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { createInstallation, type EmbeddedInstallation } from './installation.ts'
import { publishAll, startAggregator, untilAllStored } from './running-aggregator.ts'

const timeoutMs = 60_000

let installation: EmbeddedInstallation
let aggregator: Aggregator | undefined

beforeEach(async () => {
  installation = await createInstallation({ segmentBytesMax: 16_384 })
})

afterEach(async () => {
  await stop()
  await installation.remove()
})

async function start(): Promise<void> {
  aggregator = await startAggregator(installation)
}

async function stop(): Promise<void> {
  await aggregator?.stop()
  aggregator = undefined
}

it.each([
  ['the header', 0],
  ['a commit', 0.5],
])(
  'rebuilds lost counts although %s of an old segment is damaged',
  async (_, at) => {
    const generator = new EventGenerator(1, 20, Date.UTC(2026, 2, 1, 12))
    const expected = new ExpectedUsage()
    const append = async (total: number): Promise<void> => {
      for (let done = 0; done < total; done += 50) {
        const events = generator.take(50)
        expected.add(events)
        await installation.appendEvents(events)
      }
    }
    await publishAll(installation, generator.customerRefs)
    await start()
    await append(800)
    await untilAllStored(installation, timeoutMs)
    await stop()
    await installation.loseHotState()
    await publishAll(installation, generator.customerRefs)
    const folder = join(installation.dataDir, 'log')
    const sealed = sealedSegments(folder)
    expect(sealed.length).toBeGreaterThan(3)
    damageSegment(folder, sealed[1]!, at)
    await installation.reopenLog()

    await start()
    await append(200)
    await expectExactlyOnce(installation, expected, generator.customerRefs, timeoutMs)
  },
  3 * timeoutMs,
)
