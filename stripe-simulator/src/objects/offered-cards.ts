/** A test card offered on the card page and listed in the documentation. */
export type OfferedCard = {
  readonly name: string
  /** Card number in groups of 4 digits. */
  readonly number: string
  readonly effect: string
}

/** The most useful cards of `test-cards.ts`. The first one is the default in the form. */
export const offeredCards: readonly [OfferedCard, ...OfferedCard[]] = [
  {
    name: 'Succeeds',
    number: '4242 4242 4242 4242',
    effect: 'Every charge succeeds.',
  },
  {
    name: 'Declined',
    number: '4000 0000 0000 0002',
    effect: 'The bank declines every charge, and saving the card.',
  },
  {
    name: '3-D Secure',
    number: '4000 0027 6000 3184',
    effect: 'The bank asks the customer to confirm every charge.',
  },
  {
    name: 'Insufficient funds',
    number: '4000 0000 0000 9995',
    effect: 'The bank declines: the account holds too little money.',
  },
  {
    name: 'Expired',
    number: '4000 0000 0000 0069',
    effect: 'The bank declines: the card has expired.',
  },
  {
    name: 'Declined once saved',
    number: '4000 0000 0000 0341',
    effect: 'The card can be saved. The bank declines every charge.',
  },
  {
    name: 'Disputed',
    number: '4000 0000 0000 0259',
    effect: 'The charge succeeds. The cardholder then disputes it as fraudulent.',
  },
  {
    name: 'Refund fails',
    number: '4000 0000 0000 5126',
    effect: 'The charge succeeds. A refund succeeds first and fails after 5 seconds.',
  },
]
