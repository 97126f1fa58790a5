import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ClaimInForce } from '../payments/take-backs-repository.ts'
import { claimedCredits, claimsAfterUndo } from './decide-claims.ts'

/* Refunds and disputes of one payment occur and are undone in any order. */

type Step = { readonly kind: 'claim'; readonly percent: number } | { readonly kind: 'undo' }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('claim' as const), percent: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ kind: fc.constant('undo' as const) }),
  ),
  { maxLength: 10 },
)

test('claims exactly the credits that the refunded and disputed money had bought', () => {
  const paid = fc.integer({ min: 1, max: 100_000 })
  fc.assert(
    fc.property(paid, fc.integer({ min: 0, max: 10_000 }), steps, (amount, credits, each) => {
      const bought = { credits: BigInt(credits), amountMinor: BigInt(amount) }
      let claims: ClaimInForce[] = []
      each.forEach((step, index) => {
        if (step.kind === 'claim') {
          const amountMinor = BigInt(Math.ceil((amount * step.percent) / 100))
          const claimed = claimedCredits(bought, claims, amountMinor)
          const claim = { reference: `re_${index}`, cause: 'refund', amountMinor } as const
          claims.push({ ...claim, credits: claimed })
        } else {
          const undone = claims.findIndex(({ amountMinor }) => amountMinor > 0n)
          if (undone < 0) return
          claims.splice(undone, 1)
          const after = claimsAfterUndo(bought, claims)
          claims = claims.filter(({ reference }) => !after.undone.includes(reference))
          if (after.rest !== undefined) {
            claims.push({ reference: `rest_${index}`, amountMinor: 0n, ...after.rest })
          }
        }
        const away = claims.reduce((sum, { amountMinor }) => sum + Number(amountMinor), 0)
        const entitled = Math.floor((credits * Math.min(away, amount)) / amount)
        const inForce = claims.reduce((sum, claim) => sum + Number(claim.credits), 0)
        expect(inForce).toBeGreaterThanOrEqual(entitled)
        // Each claim was rounded together with earlier claims, which may have been undone.
        expect(inForce).toBeLessThanOrEqual(Math.min(credits, entitled + claims.length))
      })
    }),
  )
})
