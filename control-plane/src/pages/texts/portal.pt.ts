import type { Translation } from './catalog.ts'
import type { portalEnglish } from './portal.en.ts'

export const portalPortuguese: Translation<typeof portalEnglish> = {
  yourPlans: 'Seus planos',
}
