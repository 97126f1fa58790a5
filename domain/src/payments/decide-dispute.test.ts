import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isNewerDispute,
  takesAccess,
  withdrawalsOf,
  type DisputeStatus,
  type StoredDispute,
} from './decide-dispute.ts'

type Report = { readonly status: DisputeStatus; readonly movements: number }

/** Possible histories of a dispute at the processor: its statuses in order, with the number of money movements at each. */
const histories: readonly (readonly Report[])[] = [
  [report('needs_response', 1), report('won', 2)],
  [report('needs_response', 1), report('lost', 1)],
  [
    report('warning_needs_response', 0),
    report('needs_response', 1),
    report('under_review', 1),
    report('lost', 1),
  ],
  [report('needs_response', 1), report('won', 1), report('lost', 3)],
  [report('needs_response', 1), report('won', 2), report('lost', 3)],
  [report('needs_response', 1), report('lost', 1), report('won', 2)],
  [report('needs_response', 1), report('won', 2), report('lost', 3), report('won', 4)],
]

function report(status: DisputeStatus, movements: number): Report {
  return { status, movements }
}

function apply(reports: readonly Report[]): StoredDispute | undefined {
  return reports.reduce<StoredDispute | undefined>((known, { status, movements }) => {
    const moved = Array.from({ length: movements }, () => undefined as never)
    return isNewerDispute(known, { status, movements: moved })
      ? { status, movements, takesAccess: takesAccess(status, 'lost') }
      : known
  }, undefined)
}

test('reaches the newest state of a dispute, whatever the order and repetition of reports', () => {
  const reportedHistory = fc.constantFrom(...histories).chain((history) =>
    fc.record({
      history: fc.constant(history),
      reports: fc
        .array(fc.constantFrom(...history), { maxLength: 6 })
        .chain((again) =>
          fc.shuffledSubarray([...history, ...again], { minLength: history.length + again.length }),
        ),
    }),
  )
  fc.assert(
    fc.property(reportedHistory, ({ history, reports }) => {
      const last = history.at(-1)!
      expect(apply(reports)).toMatchObject(last)
    }),
    { numRuns: 2_000 },
  )
})

describe('takesAccess', () => {
  test.each([
    ['warning_needs_response', false, false],
    ['warning_closed', false, false],
    ['prevented', false, false],
    ['needs_response', false, true],
    ['under_review', false, true],
    ['won', false, false],
    ['lost', true, true],
  ] as const)(
    'for %s returns %s if only lost disputes suspend, %s if opened ones do',
    (status, lost, opened) => {
      expect(takesAccess(status, 'lost')).toBe(lost)
      expect(takesAccess(status, 'opened')).toBe(opened)
    },
  )
})

test('accepts a new state of a closed dispute without counted movements only if the result differs', () => {
  const known = { status: 'lost', movements: null, takesAccess: false } as const
  const movements = [undefined as never, undefined as never]
  expect(isNewerDispute(known, { status: 'lost', movements })).toBe(false)
  expect(isNewerDispute(known, { status: 'won', movements })).toBe(true)
})

/** Signed movements of the balance, the number of withdrawals, and whether the money is withdrawn in the end. Written by hand. */
test.each([
  [[], 0, false],
  [[-500], 1, true],
  [[-500, 500], 1, false],
  [[-500, 500, -500], 2, true],
  [[-500, 500, -500, 500], 2, false],
  [[-300, -200], 1, true],
  [[-500, 200], 1, true],
])(
  'counts in the movements %j %i withdrawals, with the money withdrawn now: %j',
  (amounts, times, isTaken) => {
    const movements = amounts.map((amount) => ({ amountMinor: BigInt(amount) }))
    expect(withdrawalsOf(movements)).toEqual({ times, isTaken })
  },
)
