import type { Translation } from './catalog.ts'
import type { checkoutEnglish } from './checkout.en.ts'

export const checkoutSpanish: Translation<typeof checkoutEnglish> = {
  selectPlan: 'Elegir un plan',
}
