/** Returns whole Unix seconds, as used in webhook payloads. */
export function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}
