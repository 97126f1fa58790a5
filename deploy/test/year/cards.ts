import type { CardHabit } from './model/customer.ts'

/** The simulator's test card for each habit. */
export const cards: Readonly<Record<CardHabit, string>> = {
  pays: 'pm_card_visa',
  declines: 'pm_card_chargeCustomerFail',
}
