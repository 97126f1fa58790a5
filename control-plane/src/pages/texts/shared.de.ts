import type { Translation } from './catalog.ts'
import type { sharedEnglish } from './shared.en.ts'

export const sharedGerman: Translation<typeof sharedEnglish> = {
  requests_one: '{{count}} Anfrage',
  requests_other: '{{count}} Anfragen',
  accountWith: 'Ihr Konto bei {{name}}',
  tryAgain: 'Erneut versuchen',
}
