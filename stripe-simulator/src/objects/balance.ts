import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import type { Balance, BalanceTransaction } from '../store/records.ts'
import { emit } from './event-log.ts'

/** Seconds after which received money can be paid out. */
const pendingSeconds = 2 * 86_400

export type Movement = {
  readonly type: string
  readonly reportingCategory?: string
  readonly amount: number
  readonly fee?: number
  readonly currency: string
  readonly source: string
  readonly description?: string | null
  /** Whether the money can be paid out only later. */
  readonly isPending?: boolean
}

/** Changes the account's balance, which is the sum of all movements. */
export function postMovement(work: UnitOfWork, movement: Movement): BalanceTransaction {
  const { amount, fee = 0, currency, isPending = false } = movement
  const id = newId('txn_')
  const transaction: BalanceTransaction = {
    id,
    object: 'balance_transaction',
    amount,
    available_on: work.now + (isPending ? pendingSeconds : 0),
    balance_type: 'payments',
    created: work.now,
    currency,
    description: movement.description ?? null,
    exchange_rate: null,
    fee,
    fee_details:
      fee === 0
        ? []
        : [
            {
              amount: fee,
              application: null,
              currency,
              description: 'Stripe processing fees',
              type: 'stripe_fee',
            },
          ],
    net: amount - fee,
    reporting_category: movement.reportingCategory ?? movement.type,
    source: movement.source,
    status: isPending ? 'pending' : 'available',
    type: movement.type,
  }
  work.add('balance_transaction', transaction, [movement.source])
  addToBalance(work, currency, isPending ? { pending: amount - fee } : { available: amount - fee })
  if (isPending) work.schedule(pendingSeconds, { do: 'make_available', id })
  return transaction
}

export function makeAvailable(work: UnitOfWork, id: string): void {
  const transaction = work.require('balance_transaction', id)
  if (transaction.status === 'available') return
  work.put('balance_transaction', { ...transaction, status: 'available' })
  const { net, currency } = transaction
  addToBalance(work, currency, { pending: -net, available: net })
  emit(work, 'balance.available', presentBalance(work, [currency]))
}

function addToBalance(
  work: UnitOfWork,
  currency: string,
  change: Partial<Record<'available' | 'pending', number>>,
): void {
  const known = findBalance(work, currency)
  const balance: Balance = {
    ...known,
    available: known.available + (change.available ?? 0),
    pending: known.pending + (change.pending ?? 0),
  }
  if (work.find('balance_of_currency', currency) === undefined) {
    work.add('balance_of_currency', balance)
  } else work.put('balance_of_currency', balance)
}

export function findBalance(work: UnitOfWork, currency: string): Balance {
  return (
    work.find('balance_of_currency', currency) ?? {
      id: currency,
      object: 'balance_of_currency',
      created: work.now,
      livemode: work.mode === 'live',
      available: 0,
      pending: 0,
    }
  )
}

export function presentBalance(work: UnitOfWork, of?: readonly string[]): object {
  const known = [...work.list('balance_of_currency')].map(({ id }) => id)
  const currencies = of ?? (known.length === 0 ? ['usd'] : known)
  const sums = (which: 'available' | 'pending'): object[] =>
    currencies.map((currency) => {
      const amount = findBalance(work, currency)[which]
      return { amount, currency, source_types: { card: amount } }
    })
  return {
    object: 'balance',
    available: sums('available'),
    livemode: work.mode === 'live',
    pending: sums('pending'),
  }
}
