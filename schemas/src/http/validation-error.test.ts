import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { validationErrorSchema } from './errors.ts'
import { faultOfTimestamp } from './timestamp-window.ts'
import { usageSchema, usagesBulkSchema } from './usages.ts'
import { validationErrorBody, validationIssues } from './validation-error.ts'

function issuesOf(schema: z.ZodType, input: unknown) {
  return validationIssues(schema.safeParse(input).error!, input)
}

describe('validationIssues', () => {
  it('reports missing fields as Required', () => {
    expect(issuesOf(usageSchema, {})).toEqual([
      {
        code: 'invalid_type',
        path: ['customerRef'],
        message: 'Required',
        expected: 'string',
        received: 'undefined',
      },
    ])
    expect(issuesOf(usagesBulkSchema, {})).toEqual([
      {
        code: 'invalid_type',
        path: ['events'],
        message: 'Required',
        expected: 'array',
        received: 'undefined',
      },
    ])
  })

  it.each([
    [7, 'integer'],
    [7.5, 'float'],
    [Infinity, 'infinity'],
    [null, 'null'],
    [[], 'array'],
    [{}, 'object'],
    [true, 'boolean'],
  ])('reports for %j that it received: %s', (customerRef, received) => {
    expect(issuesOf(usageSchema, { customerRef })[0]).toMatchObject({
      expected: 'string',
      received,
    })
  })

  it('lists the choices and the received value', () => {
    const outcome = 'denied'.padEnd(1000, '!')
    expect(issuesOf(usageSchema, { customerRef: 'cus_a', outcome })[0]).toMatchObject({
      code: 'invalid_value',
      path: ['outcome'],
      expected: "'success' | 'paywall' | 'fail'",
      received: outcome.slice(0, 64),
    })
  })

  it('bounds the length of an issue', () => {
    const events = Array.from({ length: 1000 }, () => ({}))
    expect(issuesOf(usagesBulkSchema, { events })).toHaveLength(100)
  })

  it('reports an issue of the body itself', () => {
    expect(issuesOf(usageSchema, 'text')[0]).toMatchObject({ path: [], received: 'string' })
    expect(issuesOf(usageSchema, undefined)[0]).toMatchObject({ path: [], message: 'Required' })
  })
})

describe('validationErrorBody', () => {
  it('returns the body that clients know', () => {
    const body = validationErrorBody(
      issuesOf(usageSchema, {}),
      '/v1/sdk/usages',
      '2025-01-01T00:00:00.000Z',
    )
    const answered = { ...body, requestId: 'req_1' }
    expect(validationErrorSchema.parse(answered)).toEqual(answered)
    expect(body).toMatchObject({
      statusCode: 400,
      error: 'Bad Request',
      message: 'Validation failed',
    })
  })
})

describe('faultOfTimestamp', () => {
  const now = 1_750_000_000_000
  const day = 86_400_000
  it.each([
    [now, false],
    [now + day, false],
    [now + day + 1, true],
    [now - 30 * day, false],
    [now - 30 * day - 1, true],
  ])('refuses the timestamp %d: %s', (timestamp, isRefused) => {
    const fault = faultOfTimestamp(timestamp, now)
    expect(fault !== undefined).toBe(isRefused)
    if (isRefused) expect(fault?.path).toEqual(['timestamp'])
  })
})
