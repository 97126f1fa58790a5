import { expect, test } from 'vitest'
import { debitSteps, groupByWallet, type StoredDebit } from './debits.ts'

const debit = (customerRef: string, productRef: string, micros: bigint): StoredDebit => ({
  ...{ providerId: 'prv_1', customerRef, productRef, micros },
})

test('sums debits by wallet and product, with the wallets in one order', () => {
  const wallets = groupByWallet([
    debit('cus_b', 'prd_1', 3n),
    debit('cus_a', 'prd_2', 5n),
    debit('cus_b', 'prd_2', 7n),
    debit('cus_b', 'prd_1', 11n),
  ])
  expect(wallets.map(({ customerRef, byProduct }) => [customerRef, [...byProduct]])).toEqual([
    ['cus_a', [['prd_2', 5n]]],
    [
      'cus_b',
      [
        ['prd_1', 14n],
        ['prd_2', 7n],
      ],
    ],
  ])
})

test('debits each product from the balance that the previous product left, and never below 0', () => {
  const byProduct = new Map([
    ['prd_1', 6n],
    ['prd_2', 3n],
    ['prd_3', 4n],
    ['prd_4', 1n],
  ])
  const steps = debitSteps(10n, byProduct)
  expect(steps.map((step) => [step.productRef, step.beforeMicros, step.afterMicros])).toEqual([
    ['prd_1', 10n, 4n],
    ['prd_2', 4n, 1n],
    ['prd_3', 1n, 0n],
    ['prd_4', 0n, 0n],
  ])
})
