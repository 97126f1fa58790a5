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
  ['is charged by a first payment', facts, { kind: 'open' }],
  [
    'without a card has failed without a call',
    { ...facts, method: undefined },
    failure('inv_1:unasked:0'),
  ],
  [
    'has failed as long as the decline is not counted',
    { ...open, last: declined },
    failure(declined.key),
  ],
  ['has failed for good after a hard decline', { ...open, last: hard }, failure(hard.key, true)],
  [
    'whose decline is counted is charged again',
    { ...open, invoice: counted, last: declined },
    { kind: 'confirm' },
  ],
  [
    'whose hard decline is counted is not charged to that card again',
    { ...open, invoice: counted, last: hard },
    failure(`${hard.key}:unasked:1`, true),
  ],
  [
    'whose hard decline is counted is charged to another card',
    { ...open, invoice: counted, last: hard, method: 'pm_new' },
    { kind: 'confirm' },
  ],
  [
    'whose bank asks the customer fails each time without a call',
    { ...open, invoice: countedAgain, last: asked },
    failure(`${asked.key}:unasked:2`),
  ],
  [
    'whose payment waits for the customer fails without a call',
    { ...open, intentStatus: 'requires_action', last: done },
    failure(`${done.key}:unasked:0`),
  ],
  [
    'does not count a charge that the provider asked for',
    { ...open, last: byProvider },
    { kind: 'confirm' },
  ],
  [
    'does not count a charge with the customer present',
    { ...open, last: byCustomer },
    { kind: 'confirm' },
  ],
])('an invoice %s', (_, given, decision) => {
  expect(decideCharge(given)).toEqual(decision)
})
