import { expect, test } from 'vitest'
import type { PaymentAttempt } from '../payments/attempts-repository.ts'
import { decideCharge, type ChargeFacts } from './decide-charge.ts'

const declined: PaymentAttempt = {
  ...{ intentRef: 'txn_1', number: 2, operation: 'confirm', key: 'txn_1:confirm:2' },
  ...{ request: { paymentMethodId: 'pm_old' }, outcome: 'declined', decline: 'soft' },
  ...{ sends: 0, message: 'card_declined', sentAt: new Date('2026-03-01T00:00:00Z') },
}
const hard: PaymentAttempt = { ...declined, decline: 'hard' }
const asked: PaymentAttempt = { ...declined, decline: 'customer' }
const done: PaymentAttempt = { ...declined, outcome: 'done', decline: null }
const byProvider = { ...declined, request: { ...declined.request, isOutOfTurn: true } }
const byCustomer = { ...declined, request: { ...declined.request, presence: 'on_session' } }

const invoice = { reference: 'inv_1', failedCharges: 0, countedFailure: null }
const counted = { reference: 'inv_1', failedCharges: 1, countedFailure: declined.key }
const countedAgain = { ...counted, failedCharges: 2, countedFailure: `${declined.key}:unasked:1` }
const facts: ChargeFacts = { invoice, intentStatus: undefined, last: undefined, method: 'pm_old' }
const open = { ...facts, intentStatus: 'requires_payment_method' } as const

const failure = (name: string, isFinal = false) => ({ kind: 'declined', isFinal, failure: name })

test.each<[string, ChargeFacts, object]>([
  ['opens a first payment', facts, { kind: 'open' }],
  [
    'reports a failure without a call if there is no card',
    { ...facts, method: undefined },
    failure('inv_1:unasked:0'),
  ],
  ['reports a decline that is not counted yet', { ...open, last: declined }, failure(declined.key)],
  ['reports a hard decline as final', { ...open, last: hard }, failure(hard.key, true)],
  [
    'charges again after the decline is counted',
    { ...open, invoice: counted, last: declined },
    { kind: 'confirm' },
  ],
  [
    'does not charge the same card again after a hard decline',
    { ...open, invoice: counted, last: hard },
    failure(`${hard.key}:unasked:1`, true),
  ],
  [
    'charges another card after a hard decline',
    { ...open, invoice: counted, last: hard, method: 'pm_new' },
    { kind: 'confirm' },
  ],
  [
    'reports a failure without a call while the bank requires the customer',
    { ...open, invoice: countedAgain, last: asked },
    failure(`${asked.key}:unasked:2`),
  ],
  [
    'reports a failure without a call while the payment waits for the customer',
    { ...open, intentStatus: 'requires_action', last: done },
    failure(`${done.key}:unasked:0`),
  ],
  [
    'does not count a charge that the provider requested',
    { ...open, last: byProvider },
    { kind: 'confirm' },
  ],
  [
    'does not count a charge with the customer present',
    { ...open, last: byCustomer },
    { kind: 'confirm' },
  ],
])('decideCharge %s', (_, given, decision) => {
  expect(decideCharge(given)).toEqual(decision)
})
