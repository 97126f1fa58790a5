import { textSetting } from '@tollgate/platform/config/settings'

export const hostedUrlSetting = textSetting(
  'TOLLGATE_HOSTED_URL',
  'Public URL of this installation, where customers open checkout and portal',
  'http://127.0.0.1:8787',
)

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
