import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventLog } from '../src/event-log/event-log.ts'
import { openLmdbEventLog } from '../src/event-log/lmdb/lmdb-event-log.ts'
import { runUntilKilled } from './run-until-killed.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'event-log-crash-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

it('has every acked record after each kill, without gaps, pairs whole', async () => {
  const folders = { logFolder: join(folder, 'log'), groupsFolder: join(folder, 'groups') }
  const acked = new Map<string, string>()
  for (let run = 0; run < 5; run += 1) {
    const parameters = [folders.logFolder, folders.groupsFolder, `${run}`]
    const killAfterMs = 20 + Math.random() * 300
    const lines = await runUntilKilled('event-log-append-until-killed.ts', parameters, killAfterMs)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      const [partition, offset, text] = line.split(' ') as [string, string, string]
      acked.set(`${partition} ${offset}`, text)
    }
    const log = await openLmdbEventLog({ ...folders, role: 'writer', topics: { t: 4 } })
    const stored = await everything(log)
    await log.close()
    for (const [place, text] of acked) {
      if (stored.get(place) !== text) expect.fail(`${place} is ${stored.get(place)}, not ${text}`)
    }
    expect(textsOf(stored, 2)).toEqual(textsOf(stored, 3))
  }
}, 120_000)

/** Checks that offsets are consecutive from 0 to the head. */
async function everything(log: EventLog): Promise<Map<string, string>> {
  const stored = new Map<string, string>()
  for (let partition = 0; partition < 4; partition += 1) {
    let next = 0
    for (;;) {
      const limits = { recordsMax: 10_000, bytesMax: 1_000_000 }
      const records = await log.read('t', partition, next, limits)
      if (records.length === 0) break
      for (const record of records) {
        if (record.offset !== next) expect.fail(`offset ${record.offset} follows ${next - 1}`)
        stored.set(`${partition} ${next}`, Buffer.from(record.value).toString())
        next += 1
      }
    }
    expect(await log.head('t', partition)).toBe(next)
  }
  return stored
}

function textsOf(stored: ReadonlyMap<string, string>, partition: number): string[] {
  return [...stored].filter(([place]) => place.startsWith(`${partition} `)).map(([, text]) => text)
}
