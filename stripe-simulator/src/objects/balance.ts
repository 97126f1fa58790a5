import { newId, type World } from '../store/world.ts'
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
export function move(world: World, movement: Movement): BalanceTransaction {
  const { amount, fee = 0, currency, isPending = false } = movement
  const id = newId('txn_')
  const transaction: BalanceTransaction = {
    id,
    object: 'balance_transaction',
    amount,
    available_on: world.now + (isPending ? pendingSeconds : 0),
    balance_type: 'payments',
    created: world.now,
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
  world.add('balance_transaction', transaction, [movement.source])
  addTo(world, currency, isPending ? { pending: amount - fee } : { available: amount - fee })
  if (isPending) world.later(pendingSeconds, { do: 'make_available', id })
  return transaction
}

export function makeAvailable(world: World, id: string): void {
  const transaction = world.require('balance_transaction', id)
  if (transaction.status === 'available') return
  world.put('balance_transaction', { ...transaction, status: 'available' })
  const { net, currency } = transaction
  addTo(world, currency, { pending: -net, available: net })
  emit(world, 'balance.available', presentBalance(world, [currency]))
}

function addTo(
  world: World,
  currency: string,
  change: Partial<Record<'available' | 'pending', number>>,
): void {
  const known = findBalance(world, currency)
  const balance: Balance = {
    ...known,
    available: known.available + (change.available ?? 0),
    pending: known.pending + (change.pending ?? 0),
  }
  if (world.find('balance_of_currency', currency) === undefined) {
    world.add('balance_of_currency', balance)
  } else world.put('balance_of_currency', balance)
}

export function findBalance(world: World, currency: string): Balance {
  return (
    world.find('balance_of_currency', currency) ?? {
      id: currency,
      object: 'balance_of_currency',
      created: world.now,
      livemode: world.mode === 'live',
      available: 0,
      pending: 0,
    }
  )
}

export function presentBalance(world: World, of?: readonly string[]): object {
  const known = [...world.list('balance_of_currency')].map(({ id }) => id)
  const currencies = of ?? (known.length === 0 ? ['usd'] : known)
  const sums = (which: 'available' | 'pending'): object[] =>
    currencies.map((currency) => {
      const amount = findBalance(world, currency)[which]
      return { amount, currency, source_types: { card: amount } }
    })
  return {
    object: 'balance',
    available: sums('available'),
    livemode: world.mode === 'live',
    pending: sums('pending'),
  }
}
