import { expect, test } from 'vitest'
import { correctInFlight, allocateHeld } from './held-grants.ts'
import type { CreditGrant } from './grants.ts'

/* Two grants of 10, used in the order a, b. Amounts are 10^-6 credits. */

const grant = (
  reference: string,
  remainingMicros: bigint,
  inFlightMicros: bigint,
): CreditGrant => ({
  ...{
    reference,
    remainingMicros,
    inFlightMicros,
    grantedMicros: 10n,
    paid: null,
    expiresAt: null,
  },
  ...{ priority: reference === 'a' ? 1 : 2, createdAt: new Date('2026-01-01T00:00:00Z') },
})
const held = (grantRef: string, micros: bigint) => ({ grantRef, key: grantRef, micros })

test.each([
  ['keep their recorded grants if usage took as much', [4n, 6n], [], 10n, [4n, 6n]],
  ['are removed from the newest grant first', [4n, 6n], [], 6n, [4n, 2n]],
  ['are removed from a grant that is held in full', [4n, 6n], [held('a', 10n)], 6n, [0n, 6n]],
  [
    'are partly removed from a grant with more held than free',
    [4n, 6n],
    [held('b', 6n)],
    5n,
    [4n, 1n],
  ],
])('recorded credits in flight %s', (_, recorded, holds, inFlight, expected) => {
  const remaining = correctInFlight(
    [grant('a', 10n, recorded[0]!), grant('b', 10n, recorded[1]!)],
    holds,
    inFlight,
  )
  expect(remaining.map(({ inFlightMicros }) => inFlightMicros)).toEqual(expected)
})

test('held credits come from their own grant, and from free credits of others if it has less', () => {
  const { line: remaining, burns } = allocateHeld(
    [grant('a', 10n, 0n), grant('b', 3n, 0n)],
    [held('b', 5n), held('a', 4n)],
  )
  expect(burns).toEqual([
    [
      { grantRef: 'b', micros: 3n },
      { grantRef: 'a', micros: 2n },
    ],
    [{ grantRef: 'a', micros: 4n }],
  ])
  expect(remaining.map(({ remainingMicros }) => remainingMicros)).toEqual([4n, 0n])
})
