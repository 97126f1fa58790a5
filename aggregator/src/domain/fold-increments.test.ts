import { describe, expect, it } from 'vitest'
import { walletScope, walletSeries, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { meterEvent } from '../../test/meter-event.ts'
import { foldIncrements } from './fold-increments.ts'

const fold = (...fields: Partial<MeterEvent>[]) =>
  foldIncrements(
    fields.map((each, offset) => ({ offset, event: meterEvent(each) })),
    new Map([['twice', 0]]),
  )

describe('foldIncrements', () => {
  it('sums usage with the same subject, scope, series and second', () => {
    const { increments } = fold({ timestamp: 5_000 }, { timestamp: 5_999 }, { timestamp: 6_000 })
    expect(increments.map(({ second, amount }) => [second, amount])).toEqual([
      [5, 2_000_000n],
      [6, 1_000_000n],
    ])
  })

  it.each([
    ['customer', [{ customerRef: 'a' }, { customerRef: 'b' }]],
    ['provider', [{ providerId: 'a' }, { providerId: 'b' }]],
    ['meter', [{ meterName: 'a' }, { meterName: 'b' }]],
    ['product', [{ productRef: 'a' }, { productRef: null }]],
    [
      'customer and product text',
      [
        { customerRef: 'ab', productRef: 'c' },
        { customerRef: 'a', productRef: 'bc' },
      ],
    ],
    [
      'product and meter text',
      [
        { productRef: 'ab', meterName: 'c' },
        { productRef: 'a', meterName: 'bc' },
      ],
    ],
    [
      'provider and customer text',
      [
        { providerId: 'ab', customerRef: 'c' },
        { providerId: 'a', customerRef: 'bc' },
      ],
    ],
  ])('keeps every %s apart', (_, fields) => {
    expect(fold(...fields).increments).toHaveLength(2)
  })

  it('returns subject, scope, series and second with each sum', () => {
    expect(fold({ productRef: 'prd_1', timestamp: 1_999 }).increments).toEqual([
      {
        subject: '6:prov_1cus_1',
        scope: 'prd_1',
        series: 'requests',
        second: 1,
        amount: 1_000_000n,
      },
    ])
  })

  it('counts only the first use of a key', () => {
    const twice = { id: 'twice', idempotencyKey: 'k' }
    const result = fold(twice, twice, { outcome: 'paywall' })
    expect(result).toMatchObject({ countedTotal: 1, duplicateTotal: 1, notCountedTotal: 1 })
    expect(result.increments.map((each) => each.amount)).toEqual([1_000_000n])
  })

  it('counts an event on each of its meters', () => {
    const tokens = { meterName: 'tokens', value: 5, text: null }
    const users = { meterName: 'users', value: 1_000_000, text: 'ada' }
    const { increments, countedTotal } = fold(
      { value: 2, counts: [tokens] },
      { meterName: '', value: 0, counts: [tokens, users], outcome: 'success' },
      { meterName: '', value: 0, counts: [users], outcome: 'fail' },
      { meterName: '', value: 0 },
    )
    expect(increments.map(({ series, amount }) => [series, amount])).toEqual([
      ['requests', 2n],
      ['tokens', 10n],
      ['users', 1_000_000n],
    ])
    expect(countedTotal).toBe(3)
  })

  it('sums the debits of counted records, each once', () => {
    const paid = {
      idempotencyKey: 'twice',
      id: 'twice',
      debit: String(2n ** 60n),
      timestamp: 7_000,
    }
    const { increments } = fold(paid, paid, { debit: '1', timestamp: 7_500 }, { debit: null })
    expect(increments.filter(({ scope }) => scope === walletScope)).toEqual([
      {
        subject: walletSubject('prov_1', 'cus_1'),
        scope: walletScope,
        series: walletSeries,
        second: 7,
        amount: 2n ** 60n + 1n,
      },
    ])
  })
})
