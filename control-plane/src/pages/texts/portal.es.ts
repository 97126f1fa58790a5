import type { Translation } from './catalog.ts'
import type { portalEnglish } from './portal.en.ts'

export const portalSpanish: Translation<typeof portalEnglish> = {
  yourPlans: 'Sus planes',
}
