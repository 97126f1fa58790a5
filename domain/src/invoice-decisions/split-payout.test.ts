import { expect, test } from 'vitest'
import { splitPayout } from './split-payout.ts'

const payment = (intentRef: string, amountMinor: bigint) => ({
  intentRef,
  invoiceRef: `inv_${intentRef}`,
  amountMinor,
})

const split = (
  creditMinor: bigint,
  wantedMinor: bigint | undefined,
  payments: readonly bigint[],
  goesTo: 'card' | 'other' = 'card',
) => {
  const listed = payments.map((amountMinor, at) => payment(`${at}`, amountMinor))
  const of = { creditMinor, wantedMinor, payments: listed, goesTo, currency: 'ISK' }
  const decided = splitPayout(of)
  if (decided.kind === 'amount') return `left ${decided.leftMinor}`
  const parts = decided.parts.map(({ amountMinor }) => Number(amountMinor))
  return [Number(decided.amountMinor), parts]
}

test('a payout to cards is a multiple of the step of the processor, and the rest stays', () => {
  expect(split(1_050n, undefined, [5_000n])).toEqual([1_000, [1_000]])
  expect(split(1_050n, 270n, [5_000n])).toEqual([200, [200]])
  expect(split(1_050n, undefined, [450n, 390n])).toEqual([700, [400, 300]])
  expect(split(1_050n, undefined, [450n, 5_000n])).toEqual([1_000, [400, 600]])
  expect(split(1_050n, undefined, [50n, 5_000n])).toEqual([1_000, [1_000]])
})

test('a payout of less than one step is refused, and so is one of more than the credit', () => {
  expect(split(90n, undefined, [5_000n])).toBe('left 0')
  expect(split(1_050n, 50n, [5_000n])).toBe('left 1000')
  expect(split(1_050n, 1_099n, [5_000n])).toBe('left 1000')
  expect(split(1_050n, 800n, [780n])).toBe('left 700')
  expect(split(-500n, undefined, [5_000n])).toBe('left 0')
})

test('a payout by other means has no steps', () => {
  expect(split(1_050n, undefined, [], 'other')).toEqual([1_050, []])
  expect(split(1_050n, 1_051n, [], 'other')).toBe('left 1050')
})
