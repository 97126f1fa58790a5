import type { LastError } from '../store/records.ts'

/** Reason of a decline. */
export type CardError = Pick<LastError, 'code' | 'decline_code' | 'advice_code' | 'message'>

/**
 * When the bank requires authentication: at every payment, unless the card was set up for later charges, or only on-session because
 * the card counts as already set up.
 */
export type Authentication = 'always' | 'unless_set_up' | 'on_session'

/** Behaviour of a card number, as in Stripe's table of test cards. */
export type TestCard = {
  readonly brand: string
  readonly authentication?: Authentication
  /** Error of every charge. */
  readonly chargeError?: CardError
  /** Error of attaching the card to a customer or setting it up. */
  readonly attachError?: CardError
  readonly refund?: 'pending' | 'fails_later'
  readonly dispute?: { readonly reason: string; readonly isInquiry: boolean }
  /** If set, a payment stays in `processing` for some seconds and then has this result. */
  readonly settlesLater?: 'succeeded' | 'failed'
  /** Whether received money can be paid out immediately. */
  readonly isAvailableAtOnce?: true
}

const declined = (declineCode: string, more: Partial<CardError> = {}): CardError => ({
  code: 'card_declined',
  decline_code: declineCode,
  message: 'Your card was declined.',
  ...more,
})

const visa = (behaviour: Omit<TestCard, 'brand'> = {}): TestCard => ({
  brand: 'visa',
  ...behaviour,
})

const alwaysDeclined = (error: CardError): TestCard =>
  visa({ chargeError: error, attachError: error })

const insufficientFunds = declined('insufficient_funds', {
  advice_code: 'try_again_later',
  message: 'Your card has insufficient funds.',
})

const cards: Readonly<Record<string, TestCard>> = {
  '4242424242424242': visa(),
  '4000056655665556': visa(),
  '5555555555554444': { brand: 'mastercard' },
  '2223003122003222': { brand: 'mastercard' },
  '378282246310005': { brand: 'amex' },
  '6011111111111117': { brand: 'discover' },
  '3056930009020004': { brand: 'diners' },
  '3566002020360505': { brand: 'jcb' },
  '6200000000000005': { brand: 'unionpay' },
  '4000000000000077': visa({ isAvailableAtOnce: true }),
  '4000000000000002': alwaysDeclined(declined('generic_decline')),
  '4000000000009995': alwaysDeclined(insufficientFunds),
  '4000000000009987': alwaysDeclined(declined('lost_card', { advice_code: 'do_not_try_again' })),
  '4000000000009979': alwaysDeclined(declined('stolen_card', { advice_code: 'do_not_try_again' })),
  '4000000000000069': alwaysDeclined({
    code: 'expired_card',
    message: 'Your card has expired.',
  }),
  '4000000000000127': alwaysDeclined({
    code: 'incorrect_cvc',
    message: "Your card's security code is incorrect.",
  }),
  '4000000000000119': alwaysDeclined({
    code: 'processing_error',
    advice_code: 'try_again_later',
    message: 'An error occurred while processing your card. Try again in a little bit.',
  }),
  '4000000000006975': alwaysDeclined(declined('card_velocity_exceeded')),
  '4100000000000019': alwaysDeclined(declined('fraudulent')),
  '4000000000000341': visa({ chargeError: declined('generic_decline') }),
  '4000002500003155': visa({ authentication: 'unless_set_up' }),
  '4000002760003184': visa({ authentication: 'always' }),
  '4000003800000446': visa({ authentication: 'on_session' }),
  '4000008260003178': visa({ authentication: 'unless_set_up', chargeError: insufficientFunds }),
  '4000000000007726': visa({ refund: 'pending' }),
  '4000000000005126': visa({ refund: 'fails_later' }),
  '4000000000000259': visa({ dispute: { reason: 'fraudulent', isInquiry: false } }),
  '4000000000002685': visa({ dispute: { reason: 'product_not_received', isInquiry: false } }),
  '4000000000001976': visa({ dispute: { reason: 'product_not_received', isInquiry: true } }),
  // Cards of the simulator itself. Stripe has no test card that expires after it is saved, and none whose payments stay in
  // `processing`.
  '4000000000010027': visa({
    chargeError: { code: 'expired_card', message: 'Your card has expired.' },
  }),
  '4000000000010001': visa({ settlesLater: 'succeeded' }),
  '4000000000010019': visa({ settlesLater: 'failed' }),
}

/** Tokens that create a new payment method with the given card. */
const tokens: Readonly<Record<string, string>> = {
  pm_card_visa: '4242424242424242',
  pm_card_visa_debit: '4000056655665556',
  pm_card_mastercard: '5555555555554444',
  pm_card_amex: '378282246310005',
  pm_card_discover: '6011111111111117',
  pm_card_diners: '3056930009020004',
  pm_card_jcb: '3566002020360505',
  pm_card_unionpay: '6200000000000005',
  pm_card_bypassPending: '4000000000000077',
  pm_card_chargeDeclined: '4000000000000002',
  pm_card_visa_chargeDeclined: '4000000000000002',
  pm_card_chargeDeclinedInsufficientFunds: '4000000000009995',
  pm_card_visa_chargeDeclinedInsufficientFunds: '4000000000009995',
  pm_card_visa_chargeDeclinedLostCard: '4000000000009987',
  pm_card_visa_chargeDeclinedStolenCard: '4000000000009979',
  pm_card_chargeDeclinedExpiredCard: '4000000000000069',
  pm_card_chargeDeclinedIncorrectCvc: '4000000000000127',
  pm_card_chargeDeclinedProcessingError: '4000000000000119',
  pm_card_visa_chargeDeclinedVelocityLimitExceeded: '4000000000006975',
  pm_card_chargeDeclinedFraudulent: '4100000000000019',
  pm_card_chargeCustomerFail: '4000000000000341',
  pm_card_authenticationRequiredOnSetup: '4000002500003155',
  pm_card_authenticationRequired: '4000002760003184',
  pm_card_authenticationRequiredSetupForOffSession: '4000003800000446',
  pm_card_authenticationRequiredChargeDeclinedInsufficientFunds: '4000008260003178',
  pm_card_pendingRefund: '4000000000007726',
  pm_card_refundFail: '4000000000005126',
  pm_card_createDispute: '4000000000000259',
  pm_card_createDisputeProductNotReceived: '4000000000002685',
  pm_card_createDisputeInquiry: '4000000000001976',
  pm_card_simulator_expired: '4000000000010027',
  pm_card_simulator_processing: '4000000000010001',
  pm_card_simulator_processingFails: '4000000000010019',
}

export function numberOfToken(token: string): string | undefined {
  return tokens[token]
}

/** Returns undefined for a number that is not a test card. Real card numbers are not accepted. */
export function findTestCard(number: string): TestCard | undefined {
  return Object.hasOwn(cards, number) ? cards[number] : undefined
}

export function testCard(number: string): TestCard {
  const card = findTestCard(number)
  if (card === undefined) throw new Error(`There is no test card ${number}.`)
  return card
}

/** All tokens, listed in the state of the simulator. */
export const tokenNames: readonly string[] = Object.keys(tokens)
