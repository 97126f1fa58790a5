import { expect, test } from 'vitest'
import { judgeAttempt } from './judge-attempt.ts'

const schedule = { delaysSeconds: [300, 900], jitterPercent: 0 }
const endedAt = new Date('2026-03-01T10:00:00Z')
const in5Minutes = new Date('2026-03-01T10:05:00Z')

const judge = (status: number | undefined, attemptsBefore = 0, retryAfter?: string) =>
  judgeAttempt(schedule, { attemptsBefore, endedAt, status, retryAfter, isUnsendable: false }, 0)

test.each([200, 201, 204, 299])('counts status %d as a success', (status) => {
  expect(judge(status)).toEqual({ kind: 'succeeded' })
})

test.each([undefined, 199, 300, 301, 307, 400, 401, 404, 429, 500, 503])(
  'retries after status %s',
  (status) => {
    expect(judge(status)).toEqual({ kind: 'retry', dueAt: in5Minutes, isGone: false })
  },
)

test('reports status 410 as an endpoint that is gone', () => {
  expect(judge(410)).toEqual({ kind: 'retry', dueAt: in5Minutes, isGone: true })
  expect(judge(410, 2)).toEqual({ kind: 'exhausted', isGone: true })
})

test('waits as long as Retry-After requests', () => {
  expect(judge(503, 0, '600')).toMatchObject({ dueAt: new Date('2026-03-01T10:10:00Z') })
})

test('ends a delivery without a body at once', () => {
  const facts = { attemptsBefore: 0, endedAt, status: undefined, retryAfter: undefined }
  expect(judgeAttempt(schedule, { ...facts, isUnsendable: true }, 0)).toEqual({
    kind: 'exhausted',
    isGone: false,
  })
})

test('makes one more attempt after the last delay, and no other', () => {
  expect(judge(500, 1)).toMatchObject({ kind: 'retry' })
  expect(judge(500, 2)).toEqual({ kind: 'exhausted', isGone: false })
})
