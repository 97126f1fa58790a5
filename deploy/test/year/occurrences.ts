import type { LineKind, ModelInvoice } from './model/invoices.ts'
import { products } from './model/plans.ts'
import type { Person } from './person.ts'

/* Everything that can happen in a year besides the acts of people: each plan, each event of a purchase, each kind of line. */

const purchaseEvents = [
  'activated',
  'cancellation_scheduled',
  'cancelled',
  'created',
  'expired',
  'past_due',
  'plan_changed',
  'reactivated',
  'refunded',
  'renewal_reminder',
  'renewed',
  'suspended',
  'trial_converted',
  'trial_ending',
  'updated',
]

const lineKinds: readonly LineKind[] = [
  'recurring',
  'setup_fee',
  'one_time',
  'credits',
  'proration',
  'usage',
  'late_usage',
  'tax',
  'carried_in',
]

const invoiceStatuses = ['open', 'paid', 'partly_refunded', 'refunded', 'void', 'uncollectible']

const names = [
  ...Object.values(products).flatMap((plans) => plans.map(({ name }) => `plan ${name}`)),
  ...purchaseEvents.map((event) => `purchase.${event}`),
  ...lineKinds.map((kind) => `line of ${kind}`),
  ...invoiceStatuses.map((status) => `invoice ${status}`),
]

/** Counts how often each of them happened. */
export function countPurchases(people: readonly Person[]): Record<string, number> {
  const counts = new Map(names.map((name) => [name, 0]))
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)
  const credits = people.flatMap(({ model }) => model.creditSales)
  for (const { invoice } of credits) countInvoice(invoice, count)
  for (const { plan, events, invoices } of people.flatMap(({ model }) => model.purchases)) {
    count(`plan ${plan.name}`)
    for (const event of events) count(event)
    for (const invoice of invoices) countInvoice(invoice, count)
  }
  return Object.fromEntries(counts)
}

function countInvoice({ status, lines }: ModelInvoice, count: (name: string) => void): void {
  count(`invoice ${status}`)
  for (const { kind } of lines) count(`line of ${kind}`)
}
