import type { Translation } from './catalog.ts'
import type { portalEnglish } from './portal.en.ts'

export const portalJapanese: Translation<typeof portalEnglish> = {
  yourPlans: 'ご利用中のプラン',
}
