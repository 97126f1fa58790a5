import type { Translation } from './catalog.ts'
import type { checkoutEnglish } from './checkout.en.ts'

export const checkoutGerman: Translation<typeof checkoutEnglish> = {
  selectPlan: 'Tarif auswählen',
}
