import { expect, test } from 'vitest'
import { declineOf } from './decline-of.ts'

test.each([
  [{ code: 'card_declined', decline_code: 'insufficient_funds' }, false, false],
  [{ code: 'card_declined', decline_code: 'generic_decline' }, false, false],
  [{ code: 'processing_error' }, false, false],
  [{ code: 'card_declined', decline_code: 'lost_card' }, true, false],
  [{ code: 'card_declined', decline_code: 'stolen_card' }, true, false],
  [{ code: 'expired_card' }, true, false],
  [
    { code: 'card_declined', decline_code: 'do_not_honor', advice_code: 'do_not_try_again' },
    true,
    false,
  ],
  [
    { code: 'card_declined', decline_code: 'do_not_honor', advice_code: 'try_again_later' },
    false,
    false,
  ],
  [{ code: 'authentication_required', decline_code: 'authentication_required' }, false, true],
  [{ code: 'payment_intent_authentication_failure' }, false, true],
  [{}, false, false],
])('%j: hard %s, needs the customer %s', (details, isHard, needsCustomer) => {
  expect(declineOf(details)).toMatchObject({ isHard, needsCustomer })
})
