import { emailKinds } from '@tollgate/schemas/http/emails'
import { sampleEvents } from '@tollgate/schemas/http/examples/events'
import { expect, test } from 'vitest'
import { emailKindOf } from './email-kind.ts'

test('every kind of email has an event', () => {
  const budget = { type: 'usage.limit_reached', object: { watches: 'budget' } }
  const events = sampleEvents.map(({ type, data }) => ({ type, object: data.object }))
  const found = new Set([...events, budget].map(emailKindOf))
  expect([...found].filter((kind) => kind !== null).toSorted()).toEqual(emailKinds.toSorted())
})

test.each([
  ['usage.limit_reached', { watches: 'limit' }],
  ['usage.threshold_reached', { watches: 'wallet' }],
  ['usage.threshold_reached', { watches: 'budget' }],
  ['customer.credit.auto_topup_failed', { reason: 'monthly_cap_too_low' }],
  ['customer.credit.auto_topup_failed', { reason: 'exchange_rate_missing' }],
  ['purchase.suspended', { reason: 'charged_back' }],
  ['payment.failed', {}],
  ['payment.succeeded', { amount: 0 }],
  ['usage.recorded', {}],
  ['constructor', {}],
])('%s with %j leads to no email', (type, object) => {
  expect(emailKindOf({ type, object })).toBeNull()
})
