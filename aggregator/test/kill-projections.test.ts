import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, it } from 'vitest'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import { forkAggregator, kill, ready } from './aggregator-process.ts'
import { expectExactlyOnce, ExpectedUsage, openWindows } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { createInstallation, type Installation } from './installation.ts'

const roundTotal = 6
const seed = 20_260_301

let installation: Installation
const children = new Set<ChildProcess>()

beforeEach(async () => {
  installation = await createInstallation()
})

afterEach(async () => {
  for (const child of children) await kill(child)
  children.clear()
  await installation.remove()
})

async function startChild(projection: 'counters' | 'sink'): Promise<ChildProcess> {
  const child = forkAggregator(projection, installation)
  children.add(child)
  await ready(child)
  return child
}

/** Maximum number of batches of 200 events each. */
const batchesMax = 400

it('counts and stores exactly once while each projection is killed at random moments', async () => {
  const random = new SeededRandom(seed)
  const generator = new EventGenerator(seed, 100, Date.UTC(2026, 2, 1, 12))
  const { customerRefs } = generator
  const expected = new ExpectedUsage()
  await openWindows(installation.hotState, customerRefs)

  let isWriting = true
  const write = async (): Promise<void> => {
    // The number is bounded, because the duration of the kills depends on the machine.
    for (let batch = 0; isWriting && batch < batchesMax; batch++) {
      const events = generator.take(200)
      expected.add(events)
      await installation.appendEvents(events)
      await sleep(10)
    }
  }
  const writing = write()
  const killRepeatedly = async (projection: 'counters' | 'sink'): Promise<void> => {
    for (let round = 0; round < roundTotal; round++) {
      const child = await startChild(projection)
      await sleep(random.below(700))
      await kill(child)
    }
    await startChild(projection)
  }
  await Promise.all([killRepeatedly('counters'), killRepeatedly('sink')])
  isWriting = false
  await writing

  await expectExactlyOnce(installation, expected, customerRefs, 60_000)
}, 240_000)
