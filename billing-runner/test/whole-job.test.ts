import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WholeJob } from '../src/jobs/job.ts'
import { processSlot } from '../src/jobs/process-slot.ts'
import { publisherOf } from '../src/open-parts.ts'
import { startRunnerStack, type RunnerStack } from './runner-stack.ts'

/* Tests jobs that one runner does for a whole environment while others wait for the same slot. */

let stack: RunnerStack

beforeAll(async () => {
  stack = await startRunnerStack()
})
afterAll(() => stack.stop())

const never = new AbortController().signal

function jobOf(name: string, perform: WholeJob['perform']): WholeJob & { readonly ends: string[] } {
  const ends: string[] = []
  return {
    kind: 'whole',
    name,
    perform,
    ended: async (environment) => void ends.push(environment),
    ends,
  }
}

function work(job: WholeJob, leaseMs: number, stopping = never) {
  const limits = { ...stack.config(), claimLeaseMs: leaseMs, triesMax: 2, retryPauseMs: 1 }
  const { logger } = stack.parts
  const slotParts = { publisher: publisherOf(stack.parts), logger, limits }
  const when = { at: new Date('2026-03-01T03:00:00Z'), isByHand: false }
  return processSlot(slotParts, job, 'sandbox', when, stopping, () => undefined)
}

async function untilEnded(job: WholeJob, leaseMs: number): Promise<void> {
  while ((await work(job, leaseMs)) !== 'ended') await sleep(5)
}

test('one of many runners does the work, even if it takes longer than the lease, and all learn of its end', async () => {
  let count = 0
  const job = jobOf('long', async () => {
    count += 1
    await sleep(500)
  })
  await Promise.all([1, 2, 3].map(() => untilEnded(job, 150)))
  expect(count).toBe(1)
  expect(job.ends).toEqual(['sandbox', 'sandbox', 'sandbox'])
})

test('another runner starts the work again after a crash', async () => {
  const dead = jobOf('taken-over', () => new Promise(() => undefined))
  void work(dead, 600_000)
  await expect.poll(() => claimed('taken-over')).toBe(1)
  await stack.database.in('sandbox')`
    update job_claims set claimed_until = now() - interval '1 second' where job = 'taken-over'`
  let isDone = false
  await untilEnded(
    jobOf('taken-over', async () => void (isDone = true)),
    600_000,
  )
  expect(isDone).toBe(true)
})

test('a failed run is retried, then left to the next slot', async () => {
  let tries = 0
  const job = jobOf('failing', async () => {
    tries += 1
    throw new Error('no')
  })
  await expect(work(job, 1_000)).rejects.toThrow('no')
  await sleep(5)
  await expect(work(job, 1_000)).rejects.toThrow('no')
  expect(await work(job, 1_000)).toBe('ended')
  expect(tries).toBe(2)
})

test('a runner that stops releases the work to the others at once', async () => {
  const stopping = new AbortController()
  const job = jobOf('stopped', async (_environment, signal) => {
    stopping.abort()
    signal.throwIfAborted()
  })
  expect(await work(job, 600_000, stopping.signal)).toBe('stopped')
  expect(await claimed('stopped')).toBe(0)
})

async function claimed(job: string): Promise<number> {
  const rows = await stack.database.in('sandbox')`select 1 from job_claims where job = ${job}`
  return rows.length
}
