import { textSetting } from '@tollgate/platform/config/settings'

export const hostedUrlSetting = textSetting(
  'TOLLGATE_HOSTED_URL',
  'Where customers reach checkout and portal: the public address of this installation',
  'http://127.0.0.1:8787',
)

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
