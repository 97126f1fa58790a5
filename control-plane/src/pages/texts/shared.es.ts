import type { Translation } from './catalog.ts'
import type { sharedEnglish } from './shared.en.ts'

export const sharedSpanish: Translation<typeof sharedEnglish> = {
  requests_one: '{{count}} solicitud',
  requests_many: '{{count}} de solicitudes',
  requests_other: '{{count}} solicitudes',
  accountWith: 'Su cuenta en {{name}}',
  tryAgain: 'Volver a intentarlo',
}
