import { afterEach, beforeEach, expect, it } from 'vitest'
import { countersGroup, sinkGroup } from '@tollgate/schemas/consumer-groups'
import { usageTopic } from '@tollgate/schemas/topics'
import { runHousekeeping } from '../src/consume/housekeeping.ts'
import { checkPosition, type Partition } from '../src/consume/partition-parts.ts'
import { createInstallation, type Installation } from './installation.ts'

const topic = usageTopic('sandbox')
const nowMs = 10_000_000

let installation: Installation
let partition: Partition

let isPublished: boolean

beforeEach(async () => {
  isPublished = true
  // Each of the five records is in its own segment.
  installation = await createInstallation({ segmentBytesMax: 1 })
  const { log, hotState } = installation
  partition = { log, hotState, environment: 'sandbox', topic, partition: 0 }
  for (let offset = 0; offset < 5; offset++) {
    await log.append(topic, 0, Uint8Array.of(offset), offset * 1_000)
  }
})

afterEach(async () => {
  await installation.remove()
})

async function runHousekeepingNow(of: Partition = partition): Promise<void> {
  const day = 86_400_000
  const retention = {
    marksMs: 1_000_000,
    windowsMs: day,
    slotsMs: day,
    knownSubjectSlotsMs: day,
    sweepKeysMax: 2,
  }
  const signal = new AbortController().signal
  await runHousekeeping(
    { clock: { now: () => nowMs }, retention, isPublished: async () => isPublished },
    of,
    signal,
  )
}

/** Trims the log as its writer does periodically. */
async function trimLog(): Promise<void> {
  await installation.log.trim(topic, 0, nowMs, [sinkGroup, countersGroup])
}

async function advanceTo(counters: number, sink: number): Promise<void> {
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

it("sets the counters' position in the log to the applied offset, even after HotState lost its counts", async () => {
  const position = async () => (await installation.log.position(countersGroup, topic, 0)).offset
  await advanceTo(4, 4)
  await runHousekeepingNow()
  expect(await position()).toBe(4)
  // For the other environment, HotState is as empty as after a loss.
  await runHousekeepingNow({ ...partition, environment: 'live' })
  expect(await position()).toBe(0)
})

it('sweeps more marks than one step deletes, but none that a record in the log may need', async () => {
  const marks = Array.from({ length: 7 }, (_, offset) => ({
    id: `id-${offset}`,
    offset,
    receivedAtMs: 1,
  }))
  marks.push({ id: 'young', offset: 7, receivedAtMs: nowMs })
  const claim = { space: 'sandbox', partition: 0, fromOffset: 0, toOffset: 8, marks }
  await installation.hotState.claimMarks(claim)
  const ids = marks.map((mark) => mark.id)
  const left = async () => {
    const offsets = await installation.hotState.readMarks('sandbox', 0, ids)
    return offsets.filter((offset) => offset !== undefined)
  }
  await runHousekeepingNow()
  expect(await left()).toHaveLength(8)
  await installation.log.append(topic, 0, Uint8Array.of(5), nowMs)
  await advanceTo(5, 5)
  await runHousekeepingNow()
  await trimLog()
  await runHousekeepingNow()
  expect(await left()).toEqual([7])
})

it('refuses a position outside of the log, but not one at its end', async () => {
  await advanceTo(4, 3)
  await runHousekeepingNow()
  await trimLog()
  await expect(checkPosition(partition, 2)).rejects.toThrow('holds offsets 3 to 5')
  expect(await checkPosition(partition, 3)).toBe(5)
  expect(await checkPosition(partition, 5)).toBe(5)
  await expect(checkPosition(partition, 6)).rejects.toThrow('the projection is at 6')
})

it('sweeps nothing while windows are missing that usage may belong to', async () => {
  const { hotState } = installation
  const at = { space: 'sandbox', partition: 0, subject: '4:provada', scope: 'prd' }
  const old = { subject: at.subject, scope: at.scope, series: 'requests', second: 1, amount: 5n }
  const batch = { space: 'sandbox', partition: 0, expectedOffset: 0, nextOffset: 1, marks: [] }
  await hotState.apply({ ...batch, increments: [old], settled: [] })
  isPublished = false
  await runHousekeepingNow()
  const windows = [{ id: 'all', fromSecond: 0, toSecond: 4_000_000_000 }]
  await hotState.putEntry(at, { version: 1, document: '{}', windows })
  expect((await hotState.readEntry(at, 'requests')).amounts).toEqual(new Map([['all', 5n]]))
})
