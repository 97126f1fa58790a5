import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forkAggregator, kill, ready } from './aggregator-process.ts'
import { createEngineInstallation, missingEngines } from './engine-installation.ts'
import { expectExactlyOnce, ExpectedUsage, openWindows } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { partitionCount, type Installation } from './installation.ts'

const leftOut =
  missingEngines.length === 0 ? '' : ` (left out without ${missingEngines.join(', ')})`
const patience = { timeout: 60_000, interval: 200 }

type Aggregator = { readonly child: ChildProcess; readonly adminPort: number }

describe.skipIf(missingEngines.length > 0)(`aggregators on Kafka and Redis${leftOut}`, () => {
  let installation: Installation
  const children = new Set<ChildProcess>()

  beforeEach(async () => {
    installation = await createEngineInstallation()
  })

  afterEach(async () => {
    for (const child of children) await kill(child)
    children.clear()
    await installation.remove()
  })

  async function start(): Promise<Aggregator> {
    const child = forkAggregator('all', installation)
    children.add(child)
    return { child, adminPort: await ready(child) }
  }

  it('share the partitions, and count and store exactly once while one after the other is killed', async () => {
    const generator = new EventGenerator(7, 100, Date.UTC(2026, 2, 1, 12))
    const { customerRefs } = generator
    const expected = new ExpectedUsage()
    await openWindows(installation.hotState, customerRefs)
    let isWriting = true
    const writing = (async () => {
      while (isWriting) {
        const events = generator.take(100)
        expected.add(events)
        await installation.appendEvents(events)
        await sleep(150)
      }
    })()

    const all = partitionCount * 2
    let [older, newer] = [await start(), await start()]
    for (let round = 0; round < 3; round += 1) {
      await expect.poll(() => partitionsOf(older, 'sink'), patience).toBe(all / 2)
      await expect.poll(() => partitionsOf(newer, 'counters'), patience).toBe(all / 2)
      await kill(older.child)
      if (round === 1) await expect.poll(() => partitionsOf(newer, 'counters'), patience).toBe(all)
      ;[older, newer] = [newer, await start()]
    }
    isWriting = false
    await writing
    await expectExactlyOnce(installation, expected, customerRefs, 60_000)
  }, 300_000)
})

/** Returns the number of partitions that the process reports. */
async function partitionsOf({ adminPort }: Aggregator, projection: string): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  const series = new RegExp(`^tollgate_projection_position{.*projection="${projection}"`, 'gm')
  return metrics.match(series)?.length ?? 0
}
