import type { Translation } from './catalog.ts'
import type { checkoutEnglish } from './checkout.en.ts'

export const checkoutPortuguese: Translation<typeof checkoutEnglish> = {
  selectPlan: 'Escolher um plano',
}
