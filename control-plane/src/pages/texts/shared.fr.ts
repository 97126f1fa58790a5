import type { Translation } from './catalog.ts'
import type { sharedEnglish } from './shared.en.ts'

export const sharedFrench: Translation<typeof sharedEnglish> = {
  requests_one: '{{count}} requête',
  requests_many: '{{count}} de requêtes',
  requests_other: '{{count}} requêtes',
  accountWith: 'Votre compte {{name}}',
  tryAgain: 'Réessayer',
}
