import type { CardHabit } from './model/customer.ts'

/** Cards of the simulator that behave like that at every charge. */
export const cards: Readonly<Record<CardHabit, string>> = {
  pays: 'pm_card_visa',
  declines: 'pm_card_chargeCustomerFail',
}
