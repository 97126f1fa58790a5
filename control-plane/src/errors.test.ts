import { errorCodes } from '@tollgate/schemas/http/error-codes'
import { expect, test } from 'vitest'
import { refusals } from './errors.ts'
import { type RefusalError } from './refusal.ts'

/** Arguments of the refusals that read their arguments. */
const given: Readonly<Record<string, readonly unknown[]>> = {
  badKey: ['missing_key'],
  badBody: ['invalid_json'],
  methodNotAllowed: [['GET']],
  malformedRequest: [414, 'too long'],
  customerNotSettled: [{}],
  customerNotCharged: [[]],
  meterCharged: ['tokens', ['Pro']],
  purchaseNotReactivable: ['pur_A', 'ended', 'expired'],
  testClockTime: [new Date(0), new Date(1)],
  tooManyWebhookSecrets: [2, new Date(0)],
  mcp: ['NO_MCP_SERVER', 'none'],
}

test.each(Object.entries(refusals))('gives %s a code that has its status', (name, refuse) => {
  const make = refuse as (...parameters: readonly unknown[]) => RefusalError
  const { statusCode, body } = make(...(given[name] ?? ['1000', '2']))
  expect(body).toMatchObject({ statusCode, message: expect.anything() as unknown })
  expect(errorCodes[body.code].statuses).toContain(statusCode)
})
