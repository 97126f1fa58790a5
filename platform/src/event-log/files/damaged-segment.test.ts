import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { damageSegment, sealedSegments } from '../../testing/damage-segment.ts'
import type { EventLog } from '../event-log.ts'
import { LogDamagedError } from '../log-damaged-error.ts'
import { dropSegments } from './drop-segments.ts'
import { openFileEventLog } from './file-event-log.ts'
import { planLogRepair } from './plan-log-repair.ts'
import { verifySegments, type SegmentReport } from './verify-segment.ts'

const topic = 'usage'
const partitions = [0, 1]
const perPartition = 120
const recordsInAll = { recordsMax: 10_000, bytesMax: 1 << 24 }

let root: string
let log: EventLog | undefined

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-damaged-'))
  const writer = await open()
  for (let at = 0; at < perPartition; at += 1) {
    for (const partition of partitions) {
      await writer.append(topic, partition, Buffer.alloc(100, `${at}`), at)
    }
  }
  await close()
})

afterEach(async () => {
  await close()
  rmSync(root, { recursive: true, force: true })
})

async function open(): Promise<EventLog> {
  log = await openFileEventLog({
    logFolder: logFolder(),
    groupsFolder: join(root, 'groups'),
    role: 'writer',
    topics: { [topic]: partitions.length },
    segmentBytesMax: 4_096,
  })
  return log
}

async function close(): Promise<void> {
  await log?.close()
  log = undefined
}

function logFolder(): string {
  return join(root, 'log')
}

/** Returns all readable offsets, continuing after unreadable ones. */
async function readable(from: EventLog, partition: number): Promise<Set<number>> {
  const offsets = new Set<number>()
  let offset = await from.oldest(topic, partition)
  while (offset < (await from.head(topic, partition))) {
    try {
      const records = await from.read(topic, partition, offset, recordsInAll)
      for (const record of records) offsets.add(record.offset)
      offset = records.at(-1)!.offset + 1
    } catch (error) {
      if (!(error instanceof LogDamagedError)) throw error
      expect(error.readableFrom).toBeGreaterThan(offset)
      offset = error.readableFrom
    }
  }
  return offsets
}

async function verify(): Promise<SegmentReport[]> {
  const reports: SegmentReport[] = []
  for await (const report of verifySegments(logFolder(), async () => {})) reports.push(report)
  return reports
}

const places = [
  ['its header', 0],
  ['its first commit', 0.12],
  ['its middle', 0.5],
] as const

it.each(places)(
  'reads all but one segment when %s is damaged, wherever that segment is',
  async (_, at) => {
    const sealed = sealedSegments(logFolder())
    expect(sealed.length).toBeGreaterThan(4)
    for (const number of [sealed[0]!, sealed[2]!, sealed.at(-1)!]) {
      const [report] = (await verify()).filter((each) => each.number === number)
      const within = (partition: number, offset: number): boolean =>
        offset >= report!.heads![partition]! && offset < report!.nextHeads![partition]!
      // Damaging twice restores the bytes.
      damageSegment(logFolder(), number, at)
      const writer = await open()
      for (const partition of partitions) {
        const offsets = await readable(writer, partition)
        const missing = Array.from({ length: perPartition }, (__, offset) => offset).filter(
          (offset) => !offsets.has(offset),
        )
        expect(missing.every((offset) => within(partition, offset))).toBe(true)
      }
      await close()
      const reports = await verify()
      expect(reports.filter(({ state }) => state !== 'whole').map((each) => each.number)).toEqual([
        number,
      ])
      damageSegment(logFolder(), number, at)
    }
    expect((await verify()).every(({ state }) => state === 'whole')).toBe(true)
  },
)

it('reads all but a segment whose file was deleted while the log is open, and gives advice', async () => {
  const number = sealedSegments(logFolder())[2]!
  const report = (await verify()).find((each) => each.number === number)!
  const writer = await open()
  rmSync(report.path)
  for (const partition of partitions) {
    const offset = report.heads![partition]!
    const failure = await writer.read(topic, partition, offset, recordsInAll).catch(String)
    expect(failure).toContain('is missing')
    expect(failure).toContain('log verify')
    const offsets = await readable(writer, partition)
    expect(offsets.size).toBe(perPartition - (report.nextHeads![partition]! - offset))
  }
})

it('drops a damaged segment and all older ones, keeps a copy, and continues', async () => {
  const damaged = sealedSegments(logFolder())[2]!
  const path = damageSegment(logFolder(), damaged)
  const reports = await verify()
  const plan = planLogRepair(reports, [perPartition, perPartition])
  expect(plan).toMatchObject({ kind: 'drop', upTo: damaged })
  const aside = join(root, 'aside')
  const copies = await dropSegments(
    logFolder(),
    damaged,
    reports.filter((each) => each.path === path),
    aside,
  )
  expect(copies).toHaveLength(1)
  expect(readdirSync(aside)).toHaveLength(1)

  const writer = await open()
  const { nextHeads } = reports.find(({ number }) => number === damaged)!
  for (const partition of partitions) {
    expect(await writer.oldest(topic, partition)).toBe(nextHeads![partition])
    const offsets = await readable(writer, partition)
    expect(offsets.size).toBe(perPartition - nextHeads![partition]!)
  }
  await writer.append(topic, 0, Buffer.from('later'), 0)
  expect(await writer.head(topic, 0)).toBe(perPartition + 1)
})

it('refuses to drop records that are not stored elsewhere, and lists them', async () => {
  const damaged = sealedSegments(logFolder())[1]!
  damageSegment(logFolder(), damaged)
  const reports = await verify()
  const { heads, nextHeads } = reports.find(({ number }) => number === damaged)!
  const needed = [nextHeads![0]! - 1, nextHeads![1]!]
  expect(planLogRepair(reports, needed)).toEqual({
    kind: 'refuse',
    reason: 'records in it are not stored elsewhere',
    lost: [{ stream: 0, fromOffset: nextHeads![0]! - 1, toOffset: nextHeads![0]! }],
  })
  expect(planLogRepair(reports, [0, 0])).toMatchObject({
    lost: [
      { stream: 0, fromOffset: heads![0], toOffset: nextHeads![0] },
      { stream: 1, fromOffset: heads![1], toOffset: nextHeads![1] },
    ],
  })
})

it('detects a segment whose file is missing, and repairs it', async () => {
  const missing = sealedSegments(logFolder())[1]!
  rmSync((await verify()).find(({ number }) => number === missing)!.path)
  const reports = await verify()
  expect(reports.find(({ number }) => number === missing)!.state).toBe('missing')
  await expect(open()).rejects.toThrow('is missing')
  const plan = planLogRepair(reports, [perPartition, perPartition])
  expect(plan).toMatchObject({ kind: 'drop', upTo: missing })
  await dropSegments(logFolder(), missing, [], join(root, 'aside'))
  const writer = await open()
  expect(await writer.head(topic, 0)).toBe(perPartition)
})

it('reads a segment again soon after its header was put back', async () => {
  const number = sealedSegments(logFolder())[2]!
  const writer = await open()
  damageSegment(logFolder(), number, 0)
  for (const partition of partitions) {
    expect((await readable(writer, partition)).size).toBeLessThan(perPartition)
  }
  damageSegment(logFolder(), number, 0)
  await expect
    .poll(async () =>
      Promise.all(partitions.map(async (each) => (await readable(writer, each)).size)),
    )
    .toEqual([perPartition, perPartition])
})
