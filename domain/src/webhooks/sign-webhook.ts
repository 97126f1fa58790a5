import { createHmac } from 'node:crypto'

/**
 * Returns the value of `SV-Signature` for a body sent at that second. `secretTexts` are the endpoint's secrets with their prefix.
 * Each gives one `v1`, in their order. Some receivers check only the first `v1`, so the secret that the receiver is known to have
 * must be first.
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
