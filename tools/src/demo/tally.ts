import type { Outcome } from '@tollgate/schemas/meter-event'

/** Numbers of one customer's traffic as counted by the sender. */
export type CustomerTally = {
  readonly customerRef: string
  readonly sent: Record<Outcome, number>
  readonly acked: Record<Outcome, number>
  denied: number
}

export function createCustomerTally(customerRef: string): CustomerTally {
  return {
    customerRef,
    sent: { success: 0, paywall: 0, fail: 0 },
    acked: { success: 0, paywall: 0, fail: 0 },
    denied: 0,
  }
}

export type Totals = {
  readonly sent: number
  readonly acked: number
  readonly denied: number
}

export function totalsOf(tallies: readonly CustomerTally[]): Totals {
  return tallies.reduce(
    (totals, tally) => ({
      sent: totals.sent + sum(tally.sent),
      acked: totals.acked + sum(tally.acked),
      denied: totals.denied + tally.denied,
    }),
    { sent: 0, acked: 0, denied: 0 },
  )
}

export function sum(counts: Readonly<Record<Outcome, number>>): number {
  return counts.success + counts.paywall + counts.fail
}
