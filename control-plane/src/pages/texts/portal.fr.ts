import type { Translation } from './catalog.ts'
import type { portalEnglish } from './portal.en.ts'

export const portalFrench: Translation<typeof portalEnglish> = {
  yourPlans: 'Vos formules',
}
