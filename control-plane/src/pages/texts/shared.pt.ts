import type { Translation } from './catalog.ts'
import type { sharedEnglish } from './shared.en.ts'

export const sharedPortuguese: Translation<typeof sharedEnglish> = {
  requests_one: '{{count}} requisição',
  requests_many: '{{count}} de requisições',
  requests_other: '{{count}} requisições',
  accountWith: 'Sua conta em {{name}}',
  tryAgain: 'Tentar novamente',
}
