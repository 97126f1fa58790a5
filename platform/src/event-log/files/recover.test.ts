import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DataFolderError } from '../../lmdb/environment.ts'
import { SeededRandom } from '../../testing/seeded-random.ts'
import { CommitBuffer } from './commit-format.ts'
import { DurableStateWriter } from './durable-state.ts'
import { LogReader } from './log-reader.ts'
import type { LogTail } from './log-tail.ts'
import { recoverLog } from './recover.ts'
import { segmentPath } from './segment-files.ts'

/*
 * Writes a log, then damages its last segment in every way that a crash or a bad disk could, and opens it. The result must be a
 * whole number of commits from the start without a missing acknowledged one; if one is missing, the log must not open.
 */

const topics = { orders: 2, refunds: 1 }
const segmentBytesMax = 4 * 1024
const commitsWritten = 12

type Record = { readonly stream: number; readonly text: string }

let root: string
let original: string
let bytes: Buffer
/** The start of each commit, and the end of the last one. */
let places: number[]
const commits: Record[][] = []
const later: Record[] = [{ stream: 0, text: 'appended later' }]
let copies = 0

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-recover-'))
  original = join(root, 'original')
  mkdirSync(original)
  const random = new SeededRandom(1)
  const { tail } = await recoverLog(original, topics, segmentBytesMax)
  places = [tail.durable.end]
  const state = new DurableStateWriter(original)
  for (let n = 0; n < commitsWritten; n += 1) {
    const records = Array.from({ length: 1 + random.below(3) }, (_, at) => ({
      stream: random.below(3),
      text: `${n}/${at}/`.padEnd(5 + random.below(12), 'x'),
    }))
    commits.push(records)
    if (n === commitsWritten - 1) publishTo('durable-before-last', tail)
    await append(tail, records)
    places.push(tail.durable.end)
    state.publish(tail.durable)
  }
  state.close()
  await tail.close()
  bytes = readFileSync(segmentPath(original, 1))
})

afterAll(() => rmSync(root, { recursive: true }))

/** Stores the current state for a copy whose writer was killed before it published the last commit. */
function publishTo(name: string, tail: LogTail): void {
  mkdirSync(join(root, name))
  const state = new DurableStateWriter(join(root, name))
  state.publish(tail.durable)
  state.close()
}

async function append(tail: LogTail, records: readonly Record[]): Promise<void> {
  const commit = new CommitBuffer(3)
  for (const { stream, text } of records) commit.add(stream, Buffer.from(text), 1)
  await new Promise<void>((resolve, reject) => {
    tail.write(commit, (error) => (error === undefined ? resolve() : reject(error)))
  })
}

/** What was published of the log: all of it, all but the last commit, or nothing that survived. */
type Told = 'all' | 'all but the last' | 'nothing'

/** Returns the number of recovered commits, or the error. */
async function openDamaged(damaged: Buffer, told: Told): Promise<number | DataFolderError> {
  copies += 1
  const folder = join(root, `copy-${copies}`)
  // Only every third is appended to, because that costs several syncs.
  const isWrittenOn = told === 'nothing' && copies % 3 === 0
  mkdirSync(folder)
  writeFileSync(segmentPath(folder, 1), damaged)
  const from = told === 'all' ? original : join(root, 'durable-before-last')
  if (told !== 'nothing') copyFileSync(join(from, 'durable'), join(folder, 'durable'))
  try {
    const { tail, segment } = await recoverLog(folder, topics, segmentBytesMax)
    segment?.close()
    const count = await commitsIn(folder, tail)
    if (isWrittenOn) await append(tail, later)
    await tail.close()
    if (isWrittenOn) await expectAfterReopening(folder, [...commits.slice(0, count), later])
    return count
  } catch (error) {
    if (error instanceof DataFolderError) return error
    throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function commitsIn(folder: string, tail: LogTail): Promise<number> {
  const count = places.indexOf(tail.durable.end)
  expect(count).toBeGreaterThanOrEqual(0)
  await expectRecords(folder, tail, commits.slice(0, count))
  return count
}

async function expectAfterReopening(folder: string, expected: Record[][]): Promise<void> {
  const { tail, segment } = await recoverLog(folder, topics, segmentBytesMax)
  segment?.close()
  await expectRecords(folder, tail, expected)
  const { segment: number, end } = tail.durable
  await tail.close()
  const rest = readFileSync(segmentPath(folder, number)).subarray(end)
  expect(rest.equals(Buffer.alloc(rest.length))).toBe(true)
}

async function expectRecords(folder: string, tail: LogTail, expected: Record[][]): Promise<void> {
  const reader = new LogReader(folder, () => tail.durable)
  for (let stream = 0; stream < 3; stream += 1) {
    const limits = { recordsMax: 1_000, bytesMax: 1_000_000 }
    const texts = (await reader.read(stream, 0, limits)).map(({ value }) =>
      Buffer.from(value).toString(),
    )
    const own = expected.flat().filter((record) => record.stream === stream)
    expect(texts).toEqual(own.map((record) => record.text))
  }
  reader.close()
}

/** Returns the number of commits that end at or before the byte. */
function wholeBefore(byte: number): number {
  return places.filter((place, at) => at > 0 && place <= byte).length
}

const tolds: Told[] = ['all', 'all but the last', 'nothing']

function toldCount(told: Told): number {
  return { all: commitsWritten, 'all but the last': commitsWritten - 1, nothing: 0 }[told]
}

/** Returns every byte of the last two commits, and some bytes after and before them. */
function bytesToDamage(): number[] {
  const random = new SeededRandom(2)
  const from = places.at(-3)!
  const all = Array.from({ length: places.at(-1)! + 8 - from }, (_, at) => from + at)
  return [...all, ...Array.from({ length: 30 }, () => random.below(from))]
}

type Case = {
  readonly damaged: Buffer
  readonly expected: number | 'error'
}

/** Runs some cases concurrently, because each waits for the disk. */
async function expectOutcomes(cases: readonly Case[], told: Told): Promise<void> {
  for (let from = 0; from < cases.length; from += 32) {
    await Promise.all(cases.slice(from, from + 32).map((each) => expectOutcome(each, told)))
  }
}

async function expectOutcome({ damaged, expected }: Case, told: Told): Promise<void> {
  const outcome = await openDamaged(damaged, told)
  if (expected !== 'error') {
    expect(outcome).toBe(expected)
  } else {
    expect(outcome).toBeInstanceOf(DataFolderError)
    expect((outcome as Error).message).toMatch(/^The event log is damaged: .*copy-\d+.*seg /)
  }
}

describe.each(tolds)('with %s published', (told) => {
  const expectedFor = (commitCount: number) =>
    commitCount < toldCount(told) ? 'error' : commitCount

  it('keeps the commits before the byte where a segment ends too early', async () => {
    const cases = bytesToDamage().flatMap((at): Case[] => {
      const expected = at < places[0]! ? 'error' : expectedFor(wholeBefore(at))
      return [
        { damaged: bytes.subarray(0, at), expected },
        { damaged: Buffer.from(bytes).fill(0, at), expected },
      ]
    })
    await expectOutcomes(cases, told)
  })

  it('keeps the commits before the last one if only some of its bytes were written', async () => {
    const random = new SeededRandom(3)
    const [from, to] = places.slice(-2) as [number, number]
    const cases: Case[] = []
    for (let at = from; at < to; at += 1) {
      const damaged = Buffer.from(bytes).fill(0, at, at + 1 + random.below(to - at))
      if (damaged.equals(bytes)) continue
      cases.push({ damaged, expected: expectedFor(commitsWritten - 1) })
    }
    await expectOutcomes(cases, told)
  })

  it('does not open if a commit before the last one is damaged', async () => {
    const random = new SeededRandom(4)
    const cases = bytesToDamage().map((at): Case => {
      const damaged = Buffer.from(bytes)
      damaged[at]! ^= 1 + random.below(255)
      const count = wholeBefore(at)
      return { damaged, expected: count < commitsWritten - 1 ? 'error' : expectedFor(count) }
    })
    await expectOutcomes(cases, told)
  })
})
