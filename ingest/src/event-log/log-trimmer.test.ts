import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { countersGroup, sinkGroup } from '@tollgate/schemas/consumer-groups'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogTrimmer } from './log-trimmer.ts'

const topic = usageTopic('live')
const nowMs = 10_000_000

let folder: string
let log: EventLog
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-trimmer-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: Object.fromEntries(environments.map((each) => [usageTopic(each), 2])),
    // Each of the five records is in a segment of its own.
    segmentBytesMax: 1,
  })
  for (let offset = 0; offset < 5; offset++) {
    await log.append(topic, 1, Uint8Array.of(offset), offset * 1_000)
  }
})
afterEach(async () => {
  await log.close()
  await rm(folder, { recursive: true })
})

async function trimOnce(retentionMs: number, appliedOffset: number, ofLog = log): Promise<void> {
  let rounds = 0
  const trimmer = createLogTrimmer({
    log: ofLog,
    hotState: { appliedOffset: async () => (++rounds, appliedOffset) },
    clock: { now: () => nowMs },
    logger: createLogger('test', 'silent'),
    retentionMs,
    intervalMs: 5,
  })
  await trimmer.start()
  // Two rounds over the four partitions have started, so the first round is complete.
  await vi.waitUntil(() => rounds > 4, { timeout: 20_000 })
  await trimmer.stop()
}

async function advanceTo(counters: number, sink: number): Promise<void> {
  const start = { offset: 0, note: '' }
  await log.commit(countersGroup, topic, 1, start, { offset: counters, note: '' })
  await log.commit(sinkGroup, topic, 1, start, { offset: sink, note: '' })
}

it.each([
  ['records that both projections have applied', 4, 3, 1_000, 4, 3],
  ['no record that the counters have not applied', 0, 4, 1_000, 0, 0],
  ['no record that the sink has not applied', 4, 0, 1_000, 4, 0],
  ['nothing young', 4, 4, nowMs - 2_000, 4, 2],
  ['no record that counters which were lost with the hot state need again', 4, 4, 1_000, 1, 0],
])('trimming deletes %s', async (_, counters, sink, retentionMs, appliedOffset, oldest) => {
  await advanceTo(counters, sink)
  await trimOnce(retentionMs, appliedOffset)
  expect(log.oldest(topic, 1)).toBe(oldest)
  expect(await log.head(topic, 1)).toBe(5)
})

it('continues with the other partitions if one cannot be trimmed', async () => {
  await advanceTo(4, 4)
  const broken = new Proxy(log, {
    get: (target, name: keyof EventLog) => {
      if (name !== 'trim') return target[name].bind(target)
      return async (...[of, partition, ...rest]: Parameters<EventLog['trim']>) => {
        if (of !== topic || partition !== 1) throw new Error('no')
        await target.trim(of, partition, ...rest)
      }
    },
  })
  await trimOnce(1_000, 4, broken)
  expect(log.oldest(topic, 1)).toBe(4)
})

it('stops immediately before its first round', async () => {
  const trimmer = createLogTrimmer({
    log,
    hotState: { appliedOffset: async () => 0 },
    clock: { now: () => nowMs },
    logger: createLogger('test', 'silent'),
    retentionMs: 1,
    intervalMs: 3_600_000,
  })
  await trimmer.start()
  await sleep(1)
  await trimmer.stop()
})
