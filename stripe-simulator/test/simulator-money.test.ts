import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StripeApiError } from '../src/errors.ts'
import { findBalance } from '../src/objects/balance.ts'
import { closeDispute, openDispute } from '../src/objects/disputes.ts'
import {
  authenticatePayment,
  cancelPaymentIntent,
  confirmPaymentIntent,
  createPaymentIntent,
} from '../src/objects/payment-intents.ts'
import { cancelPayout, createPayout, failPayout } from '../src/objects/payouts.ts'
import type { Kind, Records } from '../src/store/records.ts'
import { createRefund, endRefund } from '../src/objects/refunds.ts'
import { tokenNames } from '../src/objects/test-cards.ts'
import { runDueActions } from '../src/run-due-actions.ts'
import { MemoryStore } from '../src/store/key-value-store.ts'
import { UnitOfWork } from '../src/store/unit-of-work.ts'

/** A possible next action. `pick` selects the object to which it applies. */
type Step = {
  readonly do: string
  readonly pick: number
  readonly amount: number
  readonly card: string
  readonly yes: boolean
}

const steps = fc.array(
  fc.record({
    do: fc.constantFrom(
      ...[
        'create',
        'confirm',
        'confirm',
        'authenticate',
        'cancel',
        'refund',
        'refund',
        'endRefund',
      ],
      ...['dispute', 'close', 'payout', 'failPayout', 'cancelPayout', 'wait'],
    ),
    pick: fc.nat(1_000),
    amount: fc.integer({ min: 1, max: 2_000 }),
    card: fc.constantFrom('pm_card_visa', 'pm_card_bypassPending', ...tokenNames),
    yes: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)

class Simulation {
  readonly store = new MemoryStore()
  nowMs = 1_800_000_000_000

  work(): UnitOfWork {
    return new UnitOfWork({ store: this.store, mode: 'test', nowMs: this.nowMs })
  }

  all<Of extends Kind>(kind: Of): readonly Records[Of][] {
    return [...this.work().list(kind)]
  }

  /** Performs a step. A refused step changes nothing, as in the server. */
  take(step: Step): void {
    if (step.do === 'wait') {
      this.nowMs += step.amount * 300_000
      runDueActions(this.store, this.nowMs)
      return
    }
    const work = this.work()
    try {
      this.act(work, step)
      work.commit()
    } catch (error) {
      if (!(error instanceof StripeApiError)) throw error
    }
  }

  private one(kind: Kind, pick: number): string {
    const all = this.all(kind)
    return all[pick % Math.max(all.length, 1)]?.id ?? 'none'
  }

  private act(work: UnitOfWork, { do: what, pick, amount, card, yes }: Step): unknown {
    switch (what) {
      case 'create':
        return createPaymentIntent(work, { amount, currency: yes ? 'usd' : 'eur' })
      case 'confirm':
        return confirmPaymentIntent(work, this.one('payment_intent', pick), {
          payment_method: card,
          off_session: yes,
        })
      case 'authenticate':
        return authenticatePayment(work, this.one('payment_intent', pick), yes)
      case 'cancel':
        return cancelPaymentIntent(work, this.one('payment_intent', pick), undefined)
      case 'refund':
        return createRefund(work, {
          charge: this.one('charge', pick),
          ...(yes && { amount }),
        })
      case 'endRefund':
        return endRefund(work, this.one('refund', pick), yes ? 'succeeded' : 'failed')
      case 'dispute':
        return openDispute(work, this.one('charge', pick), { reason: 'general', isInquiry: yes })
      case 'close':
        return closeDispute(work, this.one('dispute', pick), yes ? 'won' : 'lost')
      case 'payout':
        return createPayout(work, { amount, currency: yes ? 'usd' : 'eur' })
      case 'failPayout':
        return failPayout(work, this.one('payout', pick))
      default:
        return cancelPayout(work, this.one('payout', pick))
    }
  }
}

/** Returns a simulation with a payment in each currency that can be paid out, refunded or disputed immediately. */
function createFunded(): Simulation {
  const simulation = new Simulation()
  const card = 'pm_card_bypassPending'
  for (const yes of [true, false]) {
    simulation.take({ do: 'create', pick: 0, amount: 1_500, card, yes })
    simulation.take({ do: 'confirm', pick: 0, amount: 0, card, yes })
  }
  return simulation
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function expectConsistent(simulation: Simulation): void {
  const charges = simulation.all('charge')
  for (const intent of simulation.all('payment_intent')) {
    const paid = charges.filter(
      ({ payment_intent, status }) => payment_intent === intent.id && status === 'succeeded',
    )
    expect(paid.length).toBe(intent.status === 'succeeded' ? 1 : 0)
    expect(intent.amount_received).toBe(intent.status === 'succeeded' ? intent.amount : 0)
  }
  const refunds = simulation.all('refund')
  const disputes = simulation.all('dispute')
  for (const charge of charges) {
    const given = refunds.filter((each) => each.charge === charge.id && each.status !== 'failed')
    const refunded = sum(given.map(({ amount }) => amount))
    expect(charge.amount_refunded).toBe(refunded)
    expect(charge.refunded).toBe(refunded === charge.amount)
    const withdrawn = disputes
      .filter((each) => each.charge === charge.id)
      .flatMap((each) => each.balance_transactions.map(({ amount }) => -amount))
    expect(refunded + sum(withdrawn)).toBeLessThanOrEqual(charge.amount)
  }
  for (const currency of ['usd', 'eur']) {
    const moved = simulation.all('balance_transaction').filter((each) => each.currency === currency)
    for (const { amount, fee, net } of moved) expect(net).toBe(amount - fee)
    const { available, pending } = findBalance(simulation.work(), currency)
    const netOf = (status: string): number =>
      sum(moved.filter((each) => each.status === status).map(({ net }) => net))
    expect({ available, pending }).toEqual({
      available: netOf('available'),
      pending: netOf('pending'),
    })
  }
}

test('keeps all balances consistent after any sequence of steps', () => {
  let seen = { succeeded: 0, refunds: 0, disputes: 0, payouts: 0, late: 0 }
  fc.assert(
    fc.property(steps, (taken) => {
      const simulation = createFunded()
      for (const step of taken) {
        simulation.take(step)
        expectConsistent(simulation)
      }
      seen = {
        succeeded:
          seen.succeeded +
          simulation.all('payment_intent').filter(({ status }) => status === 'succeeded').length,
        refunds: seen.refunds + simulation.all('refund').length,
        disputes: seen.disputes + simulation.all('dispute').length,
        payouts: seen.payouts + simulation.all('payout').length,
        late:
          seen.late +
          simulation
            .all('balance_transaction')
            .filter(
              ({ status, created, available_on }) =>
                status === 'available' && available_on > created,
            ).length,
      }
    }),
    { numRuns: 150 },
  )
  // Checks that the steps reached every case.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})

test('emits an event for every change of a status', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const simulation = createFunded()
      for (const step of taken) simulation.take(step)
      const told = new Map<string, unknown>()
      for (const event of [...simulation.all('event')].reverse()) {
        const { object } = event.data as { object: { id?: string; status?: string } }
        if (object.id !== undefined) told.set(object.id, object.status)
      }
      for (const kind of ['payment_intent', 'charge', 'refund', 'dispute', 'payout'] as const) {
        for (const { id, status } of simulation.all(kind)) {
          // Succeeded and pending charges both have events.
          expect([id, told.get(id)]).toEqual([id, status])
        }
      }
    }),
    { numRuns: 150 },
  )
})
