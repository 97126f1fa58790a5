import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adoptAbandoned, journalFolderName } from './adopt.ts'
import type { CallRecord } from './call-record.ts'
import { encodeFrame } from './frames.ts'
import { Journal, segmentPath } from './journal.ts'
import type { JournalPlace } from './journal-place.ts'
import { claimFolder } from './owner.ts'

let root: string
let processes = 0

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const limits = { bytesMax: 1_000_000, segmentBytesMax: 700 }

function openJournal(changes: Partial<typeof limits> = {}): Journal {
  return new Journal(join(root, journalFolderName(`${processes++}`)), { ...limits, ...changes })
}

function recordOf(callId: string, toolName = 'search'): CallRecord {
  return {
    ...{ environment: 'sandbox', providerId: 'prv_1', customerRef: 'cus_1', productRef: 'prd_1' },
    ...{ toolName, callId, idempotencyKey: callId, outcome: 'success' },
    ...{ durationMs: 1, acceptedAtMs: 1 },
  }
}

type Read = {
  readonly callId: string | undefined
  readonly next: JournalPlace
  readonly bytes: number
}

function readAll(journal: Journal, from: JournalPlace): Read[] {
  const all: Read[] = []
  for (let place = from; ;) {
    const records = journal.read(place)
    const last = records.at(-1)
    if (last === undefined) return all
    all.push(...records.map(({ record, next, bytes }) => ({ callId: record?.callId, next, bytes })))
    place = last.next
  }
}

/** A time at which even a folder without a known owner counts as abandoned. */
const later = Date.now() + 600_000

function adoptInto(journal: Journal) {
  return adoptAbandoned(
    root,
    {
      id: basename(journal.folder),
      folder: journal.folder,
      sync: () => journal.sync(),
      append: (record) => journal.append(record),
      isWritten: () => journal.unwrittenCount === 0,
      isStopping: () => false,
    },
    later,
  )
}

/** Cuts bytes off the end of the newest segment, as a power loss would. Returns how many records are damaged by the cut. */
function tear(journal: Journal, bytes: number, lengths: readonly number[]): number {
  const { segment } = journal.end
  const path = segmentPath(journal.folder, segment)
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const taken = Math.min(bytes, size)
  if (taken > 0) truncateSync(path, size - taken)
  let lost = 0
  for (let left = taken; left > 0; lost++) left -= lengths.at(-1 - lost)!
  return lost
}

const start: JournalPlace = { segment: 0, offset: 0 }

type Step =
  | { readonly kind: 'append'; readonly toolName: string }
  | { readonly kind: 'acknowledge'; readonly share: number; readonly isSaved: boolean }
  | { readonly kind: 'die'; readonly torn: number; readonly half: number }

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('append' as const),
        toolName: fc.string({ unit: 'grapheme' }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('acknowledge' as const),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        isSaved: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('die' as const),
        torn: fc.oneof(fc.constant(0), fc.nat(400)),
        half: fc.oneof(fc.constant(0), fc.nat(150)),
      }),
    },
  ),
  { maxLength: 60 },
)

test('reads all unacknowledged records, across torn writes and crashed processes', () => {
  return fc.assert(
    fc.asyncProperty(steps, async (given: readonly Step[]) => {
      let journal = openJournal()
      let expected: { callId: string; bytes: number }[] = []
      /** Records acknowledged after the position was saved. They may be delivered again. */
      let unsaved: typeof expected = []
      let place = start
      let number = 0
      for (const step of given) {
        if (step.kind === 'append') {
          const record = recordOf(`c${number++}`, step.toolName)
          journal.append(record)
          expected.push({ callId: record.callId, bytes: encodeFrame(record).byteLength })
        } else if (step.kind === 'acknowledge') {
          const count = Math.floor(step.share * expected.length)
          const read = readAll(journal, place).slice(0, count)
          if (count === 0) continue
          place = read.at(-1)!.next
          journal.acknowledge(
            place,
            read.reduce((sum, { bytes }) => sum + bytes, 0),
          )
          unsaved.push(...expected.slice(0, count))
          expected = expected.slice(count)
          if (step.isSaved) {
            await journal.savePosition()
            unsaved = []
          }
        } else {
          const before = journal
          const lost = tear(
            before,
            step.torn,
            [...unsaved, ...expected].map(({ bytes }) => bytes),
          )
          const kept = [...unsaved, ...expected].slice(0, -lost || undefined)
          const fewest = Math.max(0, expected.length - lost)
          if (step.half > 0 && lost === 0) {
            const half = encodeFrame(recordOf('half')).subarray(0, step.half)
            appendFileSync(segmentPath(before.folder, before.end.segment), half)
          }
          before.close()
          journal = openJournal()
          place = start
          const { records } = await adoptInto(journal)
          expect(records).toBeGreaterThanOrEqual(fewest)
          expect(records).toBeLessThanOrEqual(kept.length)
          expected = records === 0 ? [] : kept.slice(-records)
          unsaved = []
        }
        expect(readAll(journal, place).map(({ callId }) => callId)).toEqual(
          expected.map(({ callId }) => callId),
        )
        expect(journal.pendingBytes).toBe(expected.reduce((sum, { bytes }) => sum + bytes, 0))
      }
      journal.close()
      expect(readdirSync(root).filter((name) => name.startsWith('journal-')).length).toBe(1)
      rmSync(journal.folder, { recursive: true })
    }),
    { numRuns: 150 },
  )
})

test('keeps the records that a shared disk may lack when another process takes over the folder', async () => {
  const journal = openJournal()
  for (const callId of ['a', 'b']) journal.append(recordOf(callId))
  await journal.sync()
  for (const callId of ['c', 'd']) journal.append(recordOf(callId))
  expect([journal.isLost, journal.promiseRoom()]).toEqual([false, true])
  renameSync(journal.folder, join(root, 'taken'))
  journal.append(recordOf('e'))
  expect([journal.isLost, journal.promiseRoom()]).toEqual([true, false])
  expect(journal.leftBehind().map(({ callId }) => callId)).toEqual(['c', 'd', 'e'])
  // A sync after another process has read the folder does not make records safe.
  await journal.sync()
  expect(journal.leftBehind()).toHaveLength(3)
  journal.close()
})

test('lets only one of several processes take over a journal', async () => {
  const dead = openJournal()
  for (let number = 0; number < 100; number++) dead.append(recordOf(`c${number}`))
  dead.close()
  const adopters = [openJournal(), openJournal(), openJournal()]
  for (const { folder } of adopters) claimFolder(folder)
  const adopted = await Promise.all(adopters.map((journal) => adoptInto(journal)))
  expect(adopted.map(({ records }) => records).sort()).toEqual([0, 0, 100])
  expect(readdirSync(root)).toHaveLength(3)
  for (const journal of adopters) journal.close()
})
