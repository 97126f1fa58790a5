import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '@tollgate/platform/observability/logger'
import { countersGroup, sinkGroup } from '@tollgate/schemas/consumer-groups'
import { usageTopic } from '@tollgate/schemas/topics'
import { keepHouse } from '../src/consume/housekeeping.ts'
import { checkPosition, type Partition } from '../src/consume/partition-parts.ts'
import { createInstallation, type Installation } from './installation.ts'

const topic = usageTopic('sandbox')
const nowMs = 10_000_000

let installation: Installation
let partition: Partition

beforeEach(async () => {
  installation = await createInstallation()
  const { log, hotState } = installation
  partition = { log, hotState, environment: 'sandbox', topic, partition: 0 }
  // One commit each, so that the log has five batches to be trimmed one by one.
  for (let offset = 0; offset < 5; offset++) {
    await log.append(topic, 0, Uint8Array.of(offset), offset * 1_000)
  }
})

afterEach(async () => {
  await installation.remove()
})

async function keepHouseWithRetention(logMs: number, isLogWriter = true): Promise<void> {
  const day = 86_400_000
  await keepHouse(
    {
      clock: { now: () => nowMs },
      logger: createLogger('test', 'silent'),
      retention: {
        marksMs: 1_000_000,
        windowsMs: day,
        slotsMs: day,
        knownSubjectSlotsMs: day,
        logMs,
        sweepKeysMax: 2,
      },
      intervalMs: 1,
      isLogWriter,
    },
    partition,
    new AbortController().signal,
  )
}

async function passTo(counters: number, sink: number): Promise<void> {
  const { log, hotState } = installation
  await hotState.apply({
    space: 'sandbox',
    partition: 0,
    expectedOffset: await hotState.appliedOffset('sandbox', 0),
    nextOffset: counters,
    marks: [],
    increments: [],
  })
  const position = await log.position(sinkGroup, topic, 0)
  await log.commit(sinkGroup, topic, 0, position, { offset: sink, note: position.note })
}

it.each([
  ['what both have passed', 4, 3, 1_000, 3],
  ['nothing that the counters have not passed', 0, 4, 1_000, 0],
  ['nothing that the sink has not passed', 4, 0, 1_000, 0],
  ['nothing young', 4, 4, nowMs - 2_000, 2],
])('the log loses %s', async (_, counters, sink, logMs, oldest) => {
  await passTo(counters, sink)
  await keepHouseWithRetention(logMs)
  expect(installation.log.oldest(topic, 0)).toBe(oldest)
})

it('leaves the log alone where another process writes it, and tells that one how far the counters are', async () => {
  await passTo(4, 4)
  await keepHouseWithRetention(1_000, false)
  expect(installation.log.oldest(topic, 0)).toBe(0)
  expect((await installation.log.position(countersGroup, topic, 0)).offset).toBe(4)
})

it('sweeps more marks than one step takes', async () => {
  const marks = Array.from({ length: 7 }, (_, offset) => ({
    id: `id-${offset}`,
    offset,
    receivedAtMs: 1,
  }))
  marks.push({ id: 'young', offset: 7, receivedAtMs: nowMs })
  await installation.hotState.claimMarks('sandbox', 0, marks)
  await keepHouseWithRetention(1_000)
  const ids = marks.map((mark) => mark.id)
  const left = await installation.hotState.readMarks('sandbox', 0, ids)
  expect(left.filter((offset) => offset !== undefined)).toEqual([7])
})

it('a position outside the log is refused, at its end it is not', async () => {
  await passTo(4, 3)
  await keepHouseWithRetention(1_000)
  expect(() => checkPosition(partition, 2)).toThrow('holds offsets 3 to 5')
  expect(() => checkPosition(partition, 3)).not.toThrow()
  expect(() => checkPosition(partition, 5)).not.toThrow()
  expect(() => checkPosition(partition, 6)).toThrow('the projection is at 6')
})
