import type { Translation } from './catalog.ts'
import type { checkoutEnglish } from './checkout.en.ts'

export const checkoutJapanese: Translation<typeof checkoutEnglish> = {
  selectPlan: 'プランを選択',
}
