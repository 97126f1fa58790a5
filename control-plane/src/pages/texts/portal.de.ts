import type { Translation } from './catalog.ts'
import type { portalEnglish } from './portal.en.ts'

export const portalGerman: Translation<typeof portalEnglish> = {
  yourPlans: 'Ihre Tarife',
}
