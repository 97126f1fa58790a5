import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isNewerLook,
  takesAccess,
  takingsOf,
  type DisputeStatus,
  type KnownDispute,
} from './decide-dispute.ts'

type Look = { readonly status: DisputeStatus; readonly movements: number }

/** Possible histories of a dispute at the processor: its statuses in order, with the number of money movements at each. */
const histories: readonly (readonly Look[])[] = [
  [look('needs_response', 1), look('won', 2)],
  [look('needs_response', 1), look('lost', 1)],
  [
    look('warning_needs_response', 0),
    look('needs_response', 1),
    look('under_review', 1),
    look('lost', 1),
  ],
  [look('needs_response', 1), look('won', 1), look('lost', 3)],
  [look('needs_response', 1), look('won', 2), look('lost', 3)],
  [look('needs_response', 1), look('lost', 1), look('won', 2)],
  [look('needs_response', 1), look('won', 2), look('lost', 3), look('won', 4)],
]

function look(status: DisputeStatus, movements: number): Look {
  return { status, movements }
}

function apply(looks: readonly Look[]): KnownDispute | undefined {
  return looks.reduce<KnownDispute | undefined>((known, { status, movements }) => {
    const moved = Array.from({ length: movements }, () => undefined as never)
    return isNewerLook(known, { status, movements: moved })
      ? { status, movements, takesAccess: takesAccess(status, 'lost') }
      : known
  }, undefined)
}

test('looks at a dispute in any order, and told again, come to the newest one', () => {
  const told = fc.constantFrom(...histories).chain((history) =>
    fc.record({
      history: fc.constant(history),
      looks: fc
        .array(fc.constantFrom(...history), { maxLength: 6 })
        .chain((again) =>
          fc.shuffledSubarray([...history, ...again], { minLength: history.length + again.length }),
        ),
    }),
  )
  fc.assert(
    fc.property(told, ({ history, looks }) => {
      const last = history.at(-1)!
      expect(apply(looks)).toMatchObject(last)
    }),
    { numRuns: 2_000 },
  )
})

describe('access is taken', () => {
  test.each([
    ['warning_needs_response', false, false],
    ['warning_closed', false, false],
    ['prevented', false, false],
    ['needs_response', false, true],
    ['under_review', false, true],
    ['won', false, false],
    ['lost', true, true],
  ] as const)('by %s: once it is lost %s, as soon as it is opened %s', (status, lost, opened) => {
    expect(takesAccess(status, 'lost')).toBe(lost)
    expect(takesAccess(status, 'opened')).toBe(opened)
  })
})

test('a closed dispute whose movements nobody counted is newer only with another ending', () => {
  const known = { status: 'lost', movements: null, takesAccess: false } as const
  const movements = [undefined as never, undefined as never]
  expect(isNewerLook(known, { status: 'lost', movements })).toBe(false)
  expect(isNewerLook(known, { status: 'won', movements })).toBe(true)
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
])('the movements %j take the money %i times, and it is away: %j', (amounts, times, isTaken) => {
  const movements = amounts.map((amount) => ({ amountMinor: BigInt(amount) }))
  expect(takingsOf(movements)).toEqual({ times, isTaken })
})
