/** Webhook payloads carry whole Unix seconds. */
export function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}
