import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventLog } from '../src/event-log/event-log.ts'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'
import { runUntilKilled } from './run-until-killed.ts'

const partitions = [0, 1, 2, 3]

let folder: string
let watching: Watching | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'event-log-crash-'))
})
afterEach(async () => {
  await watching?.stop().catch(() => undefined)
  await rm(folder, { recursive: true, force: true })
})

it.each([1, 4 * 1024, 64 * 1024 * 1024])(
  'has every acknowledged record exactly once after each kill, without gaps and with complete pairs; segments of %i bytes',
  async (segmentBytesMax) => {
    const folders = { logFolder: join(folder, 'log'), groupsFolder: join(folder, 'groups') }
    const options = { ...folders, topics: { t: 4 }, segmentBytesMax }
    await (await openFileEventLog({ ...options, role: 'writer' })).close()
    watching = watch(await openFileEventLog({ ...options, role: 'reader' }))
    const acked = new Map<string, string>()
    const [killedAfterMs, linesMax] = segmentBytesMax === 1 ? [80, 5_000] : [320, 50_000]
    for (let run = 0; run < 5; run += 1) {
      const numbers = [run, segmentBytesMax, linesMax].map(String)
      const parameters = [...Object.values(folders), ...numbers]
      const killAfterMs = 20 + Math.random() * (killedAfterMs - 20)
      const script = 'event-log-append-until-killed.ts'
      const lines = await runUntilKilled(script, parameters, killAfterMs)
      expect(lines.length).toBeGreaterThan(0)
      for (const line of lines) {
        const [partition, offset, text] = line.split(' ') as [string, string, string]
        acked.set(`${partition} ${text}`, offset)
      }
    }
    const log = await openFileEventLog({ ...options, role: 'writer' })
    const stored = await Promise.all(partitions.map((partition) => everything(log, partition)))
    await log.close()
    for (const texts of stored) expect(new Set(texts).size).toBe(texts.length)
    expect(stored[2]).toEqual(stored[3])
    const places = stored.map((texts) => new Map(texts.map((text, offset) => [text, offset])))
    for (const [record, offset] of acked) {
      const [partition, text] = record.split(' ') as [string, string]
      const place = places[Number(partition)]!.get(text)
      if (place === undefined || (offset !== '-' && place !== Number(offset))) {
        expect.fail(`${record} is at ${place}, not at ${offset}`)
      }
    }
    const watched = await watching.stop()
    watched.forEach((texts, partition) => {
      expect(texts).toEqual(stored[partition]!.slice(0, texts.length))
    })
    expect(watched.flat().length).toBeGreaterThan(0)
  },
  120_000,
)

/** Returns all texts. Their offsets must be consecutive from 0 to the head. */
async function everything(log: EventLog, partition: number): Promise<string[]> {
  const texts: string[] = []
  while (await readOn(log, partition, texts));
  expect(await log.head('t', partition)).toBe(texts.length)
  return texts
}

async function readOn(log: EventLog, partition: number, texts: string[]): Promise<boolean> {
  const limits = { recordsMax: 10_000, bytesMax: 1_000_000 }
  const records = await log.read('t', partition, texts.length, limits)
  for (const { offset, value } of records) {
    if (offset !== texts.length) expect.fail(`offset ${offset} follows ${texts.length - 1}`)
    texts.push(Buffer.from(value).toString())
  }
  return records.length > 0
}

type Watching = { readonly stop: () => Promise<string[][]> }

/**
 * Follows each partition while other processes write. It yields after each read, because the timer that kills the writer must run
 * even if the writer is as fast as the reader.
 */
function watch(log: EventLog): Watching {
  let isStopped = false
  const follow = async (partition: number): Promise<string[]> => {
    const texts: string[] = []
    while (!isStopped) {
      if (!(await readOn(log, partition, texts))) await log.waitForAppend('t', 20)
      await nextTurn()
    }
    return texts
  }
  const seen = Promise.all(partitions.map(follow)).finally(() => log.close())
  // A failure is reported when the test asks for the result.
  seen.catch(() => undefined)
  return {
    stop: () => {
      isStopped = true
      return seen
    },
  }
}
