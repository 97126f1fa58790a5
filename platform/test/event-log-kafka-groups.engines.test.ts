import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GroupFencedError, type EventLog } from '../src/event-log/event-log.ts'
import { openKafkaEventLog } from '../src/event-log/kafka/kafka-event-log.ts'
import type { CommitRequest, MemberReport } from './kafka-group-member.ts'
import { deleteTopics, kafkaOptions, testBrokers } from '../src/testing/kafka-under-test.ts'
import { TilingReader } from './tiling-reader.ts'

const partitionCount = 4
const patience = { timeout: 60_000 }

describe.skipIf(testBrokers === undefined)('groups, with TOLLGATE_TEST_KAFKA_BROKERS', () => {
  let options: ReturnType<typeof kafkaOptions>
  let log: EventLog
  const opened: EventLog[] = []
  const children: ChildProcess[] = []

  beforeEach(async () => {
    options = kafkaOptions(testBrokers!)
    log = await openKafkaEventLog(options)
  })

  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child)
    for (const each of opened.splice(0)) await each.close()
    await log.close()
    await deleteTopics(testBrokers!, options.namePrefix)
  })

  async function openReader(): Promise<EventLog> {
    const { writer: _, ...readerOptions } = options
    const reader = await openKafkaEventLog(readerOptions)
    opened.push(reader)
    return reader
  }

  async function append(count: number): Promise<void> {
    const records = Array.from({ length: count }, (_, n) => {
      return { partition: n % partitionCount, value: Buffer.from(`${n}`) }
    })
    await log.appendAll('orders', records, Date.now())
  }

  it('process every partition exactly once through twenty rebalances', async () => {
    const steady = new TilingReader(await openReader())
    await steady.join()
    for (let round = 0; round < 10; round += 1) {
      await append(40)
      const passing = new TilingReader(await openReader())
      await passing.join()
      await expect.poll(() => passing.heldTotal, patience).toBeGreaterThan(0)
      await append(40)
      await passing.leave()
      await expect.poll(() => steady.heldTotal, patience).toBe(partitionCount)
      steady.adopt(passing)
    }
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const head = await log.head('orders', partition)
      expect(head).toBe(200)
      await expect.poll(() => steady.coveredTo(partition), patience).toBe(head)
    }
    await steady.leave()
  }, 120_000)

  it('refuse the commit of a member that was suspended longer than its session', async () => {
    const child = forkMember(options.namePrefix)
    const heldBy = watchHeld(child)
    await expect.poll(() => heldBy().length, patience).toBe(partitionCount)
    const [zero, one] = [
      { offset: 0, note: '' },
      { offset: 1, note: 'by the child' },
    ]
    expect(await commitAs(child, { expected: zero, next: one })).toBe('done')

    child.kill('SIGSTOP')
    const taker = new TilingReader(await openReader(), { commits: false })
    await taker.join()
    await expect.poll(() => taker.heldTotal, patience).toBe(partitionCount)
    const two = { offset: 2, note: 'by the one that took over' }
    await taker.log.commit('sink', 'orders', 0, one, two)

    child.kill('SIGCONT')
    const late = { expected: one, next: { offset: 9, note: 'late' } }
    expect(await commitAs(child, late)).toBe(GroupFencedError.name)
    expect(await log.position('sink', 'orders', 0)).toEqual(two)
    // It joins again, and both share the partitions.
    await expect.poll(() => heldBy().length, patience).toBe(partitionCount / 2)
    await expect.poll(() => taker.heldTotal, patience).toBe(partitionCount / 2)
    await taker.leave()
  }, 120_000)

  it('assign the partitions of a killed member to the others', async () => {
    const child = forkMember(options.namePrefix)
    const heldBy = watchHeld(child)
    await expect.poll(() => heldBy().length, patience).toBe(partitionCount)
    const reader = new TilingReader(await openReader())
    await reader.join()
    await expect.poll(() => reader.heldTotal, patience).toBe(partitionCount / 2)
    await append(40)
    await kill(child)
    for (let partition = 0; partition < partitionCount; partition += 1) {
      await expect.poll(() => reader.coveredTo(partition), patience).toBe(10)
    }
    await reader.leave()
  }, 120_000)

  it('refuse the commit of a process that is not a member', async () => {
    const commit = log.commit('sink', 'orders', 0, { offset: 0, note: '' }, { offset: 1, note: '' })
    await expect(commit).rejects.toThrow(GroupFencedError)
  })

  it('refuse a note that is longer than the brokers allow', async () => {
    const reader = new TilingReader(await openReader(), { commits: false })
    await reader.join()
    await expect.poll(() => reader.heldTotal, patience).toBe(partitionCount)
    const [from, to] = [
      { offset: 0, note: '' },
      { offset: 1, note: 'x'.repeat(10_000) },
    ]
    await expect(reader.log.commit('sink', 'orders', 0, from, to)).rejects.toThrow(RangeError)
    await reader.log.commit('sink', 'orders', 0, from, { offset: 1, note: 'short' })
    await reader.leave()
  })

  function forkMember(namePrefix: string): ChildProcess {
    const main = fileURLToPath(new URL('./kafka-group-member.ts', import.meta.url))
    const child = fork(main, [testBrokers!.join(','), namePrefix], {
      execArgv: ['--conditions=source', '--import', 'tsx'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    children.push(child)
    return child
  }
})

function watchHeld(child: ChildProcess): () => readonly string[] {
  let held: readonly string[] = []
  child.on('message', (report: MemberReport) => {
    if ('held' in report) held = report.held
  })
  return () => held
}

async function commitAs(child: ChildProcess, request: CommitRequest): Promise<string> {
  const answered = new Promise<string>((resolve) => {
    const listen = (report: MemberReport): void => {
      if (!('committed' in report)) return
      child.off('message', listen)
      resolve(report.committed)
    }
    child.on('message', listen)
  })
  child.send(request)
  return answered
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
