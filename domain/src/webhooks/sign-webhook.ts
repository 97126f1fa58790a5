import { createHmac } from 'node:crypto'

/**
 * The value of `SV-Signature` for these bytes, sent at that second. `secretTexts` are the endpoint's secrets with their
 * prefix: each gives one `v1`, in their order. Receivers that look at the first `v1` alone are in use, so the secret that
 * the receiver is known to have stands first.
 */
export function signWebhook(
  secretTexts: readonly string[],
  body: Uint8Array,
  sentUnixSeconds: number,
): string {
  const t = String(sentUnixSeconds)
  const digests = secretTexts.map((secret) =>
    createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'),
  )
  return [`t=${t}`, ...digests.map((digest) => `v1=${digest}`)].join(',')
}
