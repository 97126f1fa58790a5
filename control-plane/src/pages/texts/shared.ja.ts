import type { Translation } from './catalog.ts'
import type { sharedEnglish } from './shared.en.ts'

export const sharedJapanese: Translation<typeof sharedEnglish> = {
  requests_other: '{{count}} 件のリクエスト',
  accountWith: '{{name}} のアカウント',
  tryAgain: 'もう一度試す',
}
