import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventLog } from '../src/event-log/event-log.ts'
import { LogDamagedError } from '../src/event-log/log-damaged-error.ts'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'
import { DataFolderError } from '../src/lmdb/environment.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'event-log-segments-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function openLog(role: 'writer' | 'reader'): Promise<EventLog> {
  return openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role,
    topics: { t: 2 },
    segmentBytesMax: 1024,
  })
}

/** Appends records that contain their own offset. */
async function append(log: EventLog, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    const value = Buffer.from(`${n}`.padEnd(100))
    await log.appendAll(
      't',
      [0, 1].map((partition) => ({ partition, value })),
      n,
    )
  }
}

async function segmentPaths(): Promise<string[]> {
  const names = (await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.seg'))
  return names.sort().map((name) => join(folder, 'log', name))
}

/** Reads one partition and checks the content of each record. */
async function openFollower(partition: number, recordsMax: number) {
  const log = await openLog('reader')
  const seen = { next: 0, passedOver: 0 }
  const readOn = async () => {
    const records = await log.read('t', partition, seen.next, { recordsMax, bytesMax: 3_000 })
    for (const { offset, receivedAtMs, value } of records) {
      const said = Number(Buffer.from(value).toString())
      if (offset < seen.next || said !== offset || receivedAtMs !== offset) {
        expect.fail(`offset ${offset} holds ${said}, ${seen.next} was next`)
      }
      seen.passedOver += offset - seen.next
      seen.next = offset + 1
    }
    return records.length
  }
  return { log, seen, readOn }
}

it('shows readers every stored record while segments are added and deleted', async () => {
  const log = await openLog('writer')
  const last = 600
  const follow = async (partition: number, recordsMax: number) => {
    const follower = await openFollower(partition, recordsMax)
    while (follower.seen.next < last) {
      if ((await follower.readOn()) === 0) await follower.log.waitForAppend('t', 20)
      else await sleep(1)
    }
    await follower.log.close()
  }
  const following = [follow(0, 100), follow(1, 15), follow(0, 2), follow(1, 1)]
  const slow = await openFollower(0, 1)
  for (let n = 0; n < last; n += 10) {
    await append(log, n, n + 10)
    for (const partition of [0, 1]) await log.trim('t', partition, n - 30, [])
    await slow.readOn()
  }
  await Promise.all(following)
  expect(slow.seen.passedOver).toBeGreaterThan(400)
  expect((await segmentPaths()).length).toBeLessThan(50)
  await slow.log.close()
  await log.close()
})

it('serves readers that alternate between more segments than are kept open', async () => {
  const options = {
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    topics: { t: 1 },
    segmentBytesMax: 2 ** 20,
  }
  const log = await openFileEventLog({ ...options, role: 'writer' })
  const batch = Array.from({ length: 100 }, () => ({ partition: 0, value: Buffer.alloc(1000) }))
  for (let count = 0; count < 90; count += 1) await log.appendAll('t', batch, count)
  const reader = await openFileEventLog({ ...options, role: 'reader' })
  // Each reader is near the end of a different segment, several steps from its start.
  const readings = Array.from({ length: 8 }, (_, at) =>
    reader.read('t', 0, at * 1000 + 900, { recordsMax: 10, bytesMax: 1e6 }),
  )
  for (const [at, records] of (await Promise.all(readings)).entries()) {
    expect(records[0]!.offset).toBe(at * 1000 + 900)
  }
  await reader.close()
  await log.close()
})

it('keeps a segment that a partition needs again after it had released it', async () => {
  const log = await openLog('writer')
  await append(log, 0, 30)
  await log.trim('t', 0, Infinity, [])
  await log.trim('t', 0, -Infinity, [])
  await log.trim('t', 1, Infinity, [])
  expect(await log.oldest('t', 0)).toBe(0)
  await log.trim('t', 0, Infinity, [])
  expect(await log.oldest('t', 0)).toBeGreaterThan(0)
  await log.close()
})

it('does not skip damage in a full segment, and reads the other segments', async () => {
  const log = await openLog('writer')
  await append(log, 0, 30)
  const path = (await segmentPaths())[2]!
  const bytes = await readFile(path)
  const firstSaid = Number(/\d+(?= {90,})/.exec(bytes.toString('latin1'))![0])
  bytes[bytes.indexOf('     ')]! ^= 1
  await writeFile(path, bytes)
  const all = { recordsMax: 100, bytesMax: 100_000 }
  for (const each of [log, await openLog('reader')]) {
    const before = await each.read('t', 0, 0, all)
    expect(before.length).toBe(firstSaid)
    const reading = each.read('t', 0, firstSaid, all)
    await expect(reading).rejects.toThrow(LogDamagedError)
    await expect(reading).rejects.toThrow(/^The event log is damaged: .*3\.seg has no valid commit/)
    const after = await each.read('t', 0, firstSaid + 10, all)
    expect(after.at(-1)!.offset).toBe(29)
    await each.close()
  }
})

it('does not open when a segment is missing', async () => {
  const log = await openLog('writer')
  await append(log, 0, 30)
  await log.close()
  const paths = await segmentPaths()
  for (const path of [paths[2]!, paths.at(-1)!]) {
    const bytes = await readFile(path)
    await rm(path)
    const opened = openLog('writer')
    await expect(opened).rejects.toThrow(DataFolderError)
    await expect(opened).rejects.toThrow(`The event log is damaged: ${path} is missing.`)
    await writeFile(path, bytes)
  }
  const again = await openLog('writer')
  expect(await again.head('t', 0)).toBe(30)
  await again.close()
})
