import type { Translation } from './catalog.ts'
import type { checkoutEnglish } from './checkout.en.ts'

export const checkoutFrench: Translation<typeof checkoutEnglish> = {
  selectPlan: 'Choisir une formule',
}
