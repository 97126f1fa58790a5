import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AcknowledgedHeads } from '../src/event-log/acknowledged-heads.ts'
import { EventLogUnavailableError, type EventLog } from '../src/event-log/event-log.ts'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'
import { leaseMs } from '../src/event-log/note-lease/lease.ts'
import type { Home, HomeNotes } from '../src/event-log/note-lease/home-notes.ts'
import {
  openNoteLease,
  type NoteLease,
  type NoteLeaseOptions,
} from '../src/event-log/note-lease/note-lease.ts'
import { createLogger } from '../src/observability/logger.ts'

const topic = 'usage'
const controlTopic = 'control'
const home: Home = { term: 'first', token: 'token' }

let folder: string
let log: EventLog
/** Whether the server with the notes is the home. */
let isHome: boolean
let noted: number
const opened: NoteLease[] = []

const heads: AcknowledgedHeads = {
  note: async () => undefined,
  read: async () => undefined,
}
const homeNotes: HomeNotes = {
  claim: async () => undefined,
  note: async (_, __, heads) => {
    if (isHome) noted = Math.max(noted, ...heads.values())
    return isHome
  },
  read: async (_, __, partitions) => (isHome ? partitions.map(() => noted) : undefined),
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-note-lease-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [topic]: 1, [controlTopic]: 1 },
  })
  isHome = true
  noted = 0
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((lease) => lease.close()))
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

async function open(options: Partial<NoteLeaseOptions> = {}): Promise<NoteLease> {
  const lease = await openNoteLease({
    control: openUntilClosed(),
    controlTopic,
    log,
    topics: [topic],
    heads,
    homeNotes,
    readsNotes: true,
    acknowledgeWithinMs: 10_000,
    logger: createLogger('test', 'silent'),
    ...options,
  })
  opened.push(lease)
  return lease
}

/** Several leases share the log, and each closes its own. */
function openUntilClosed(): NoteLeaseOptions['control'] {
  return {
    head: (...at) => log.head(...at),
    read: (...from) => log.read(...from),
    append: (...record) => log.append(...record),
    close: async () => undefined,
  }
}

async function writeRecord(number: number, at: Home | null): Promise<void> {
  await log.append(controlTopic, 0, Buffer.from(JSON.stringify({ number, home: at })), 1)
}

async function millisecondsOf(work: Promise<void>): Promise<number> {
  const startMs = performance.now()
  await work
  return performance.now() - startMs
}

describe('an acknowledgement', () => {
  it('waits for no lease before the first record', async () => {
    const lease = await open()
    expect(await millisecondsOf(lease.acknowledge(topic, 0, 1))).toBeLessThan(leaseMs / 2)
  })

  it('needs a note at the home', async () => {
    await writeRecord(1, home)
    const lease = await open()
    await lease.acknowledge(topic, 0, 5)
    expect(noted).toBe(5)
  })

  it('waits until no process trusts a home that has lost its notes', async () => {
    await writeRecord(1, home)
    const [lease, other] = [await open(), await open()]
    isHome = false
    expect(await millisecondsOf(lease.acknowledge(topic, 0, 5))).toBeGreaterThan(leaseMs)
    // The other process learns that there is no home, and waits for as long.
    expect(await millisecondsOf(other.acknowledge(topic, 0, 5))).toBeLessThan(2 * leaseMs)
    expect(await log.head(controlTopic, 0)).toBe(2)
    expect(lease.counts.held).toBe(1)
  })

  it('keeps the home if this process was paused', async () => {
    await writeRecord(1, home)
    let isFirst = true
    const note: HomeNotes['note'] = async (...args) => {
      if (isFirst) {
        isFirst = false
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.2 * leaseMs)
        await sleep(200)
      }
      return homeNotes.note(...args)
    }
    const lease = await open({ homeNotes: { ...homeNotes, note } })
    await lease.acknowledge(topic, 0, 5)
    expect(noted).toBe(5)
    expect(await log.head(controlTopic, 0)).toBe(1)
  })

  it('is refused if the log does not confirm the lease', async () => {
    const away = async (): Promise<never> => {
      throw new EventLogUnavailableError('no answer')
    }
    const control = { ...openUntilClosed(), head: away }
    const lease = await open({ control, acknowledgeWithinMs: 100 })
    await expect(lease.acknowledge(topic, 0, 1)).rejects.toThrow(EventLogUnavailableError)
    await expect(lease.health.check()).rejects.toThrow(controlTopic)
  })

  it('is refused if records of the control topic were deleted', async () => {
    for (const number of [1, 2, 3]) await writeRecord(number, number === 2 ? null : home)
    const control: NoteLeaseOptions['control'] = {
      ...openUntilClosed(),
      read: async (at, partition, fromOffset, limits) =>
        log.read(at, partition, Math.max(fromOffset, 1), limits),
    }
    const lease = await open({ control, acknowledgeWithinMs: 100 })
    await expect(lease.acknowledge(topic, 0, 5)).rejects.toThrow(EventLogUnavailableError)
    expect(noted).toBe(0)
  })

  it('ignores a record that arrives after another one with its number', async () => {
    await writeRecord(1, home)
    await writeRecord(1, { term: 'second', token: 'token' })
    await writeRecord(0, null)
    const lease = await open()
    await lease.acknowledge(topic, 0, 5)
    expect(noted).toBe(5)
  })
})

describe('a head', () => {
  it('comes from the log first, and then from notes', async () => {
    await log.append(topic, 0, Buffer.from('a'), 1)
    await writeRecord(1, home)
    const lease = await open()
    await expect
      .poll(async () => [await lease.head(topic, 0), lease.counts.trusted > 0])
      .toEqual([1, true])
    noted = 7
    expect(await lease.head(topic, 0)).toBe(7)
    isHome = false
    expect(await lease.head(topic, 0)).toBe(1)
  })

  it('comes from the log in a process that only writes notes', async () => {
    await writeRecord(1, home)
    const lease = await open({ readsNotes: false })
    noted = 7
    await new Promise((resolve) => setTimeout(resolve, 1.3 * leaseMs))
    expect(await lease.head(topic, 0)).toBe(0)
    expect(lease.counts.trusted).toBe(0)
  })
})
