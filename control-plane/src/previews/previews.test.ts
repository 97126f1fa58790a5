import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { systemClock } from '@tollgate/platform/clock/clock'
import { expect, test } from 'vitest'
import { RefusalError } from '../refusal.ts'
import { Previews } from './previews.ts'

const caller = { providerId: 'prv_1', environment: 'sandbox' } as const
const limits = { usageGraceMinutes: 60, usageStoreWaitMs: 1, previewHoldersMax: 1 }

function previewsWith(previewsMax: number): Previews {
  // No preview of these tests reads anything.
  const unused = undefined as never
  const parts = { database: unused, eventLog: unused, usageStore: unused, clock: systemClock }
  return new Previews(parts, { ...limits, previewsMax })
}

async function codeOf(answer: Promise<unknown>): Promise<unknown> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof RefusalError
    ? [error.statusCode, error.body.code, error.headers['retry-after']]
    : error
}

test('refuses more previews than are computed at a time, and computes them afterwards', async () => {
  const previews = previewsWith(2)
  const ends: (() => void)[] = []
  const running = [1, 2].map((each) =>
    previews.run(caller, () => new Promise<number>((resolve) => ends.push(() => resolve(each)))),
  )
  expect(await codeOf(previews.run(caller, async () => 3))).toEqual([503, 'overloaded', 1])
  for (const end of ends) end()
  expect(await Promise.all(running)).toEqual([1, 2])
  expect(await previews.run(caller, async () => 4)).toBe(4)
})

test('answers 503 while usage cannot be summed up, and counts failed previews as ended', async () => {
  const previews = previewsWith(1)
  const behind = previews.run(caller, () => Promise.reject(new UsageBehindError(1)))
  expect(await codeOf(behind)).toEqual([503, 'usage_behind', 1])
  const bug = new Error('bug')
  expect(await codeOf(previews.run(caller, () => Promise.reject(bug)))).toBe(bug)
  expect(await previews.run(caller, async () => 1)).toBe(1)
})
